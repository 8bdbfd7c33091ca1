package expect

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// HandleEntry is what a program says of one of its handles: see tests/programs/handles_account.h.
type HandleEntry struct {
	// Expression is the handle in the frame of the program's main function.
	Expression string `json:"expression"`
	// Type is what is to be asked for with -type, empty if the declared type says it.
	Type string `json:"type"`
	// Handle are the keys of `mpi-handle -json' that the program knows.
	Handle Object `json:"handle"`
	// Value is what stood in the variable, as gdb prints it. Beside a recording it is added to what the program says.
	Value string `json:"value"`
}

// Kind is the kind of the handle.
func (e *HandleEntry) Kind() string { return fmt.Sprint(e.Handle["kind"]) }

// IsObject says whether an object of the program's or of MPI's own stands behind the handle.
func (e *HandleEntry) IsObject() bool {
	state := e.Handle["state"]
	return state == "live" || state == "predefined"
}

// IsGone says whether no object stands behind the handle, not even a null one.
func (e *HandleEntry) IsGone() bool {
	_, isChoice := e.Handle["state"].([]any) // freed or invalid
	return isChoice || e.Handle["state"] == "invalid"
}

// MayLack says whether a library keeps nothing of a part of a handle, by the handle's expression in the programs and
// a path of keys: "window.epochs".
func (l Library) MayLack(expression, path string) bool {
	switch {
	case l.MPI == "MPICH" && l.Stripped && !l.Found:
		return true
	case l.MPI == "MPICH":
		return mpichMayLack(expression, path)
	}
	// From 5.0, windows inside a machine are osc/sm's, which keeps nothing of a fence.
	return !strings.HasPrefix(l.Release, "4.1") && expression == "fenced" && path == "window.epochs"
}

// mpichMayLack is what no build of MPICH has of some handles: the envelope of a complete request, and of a
// send that waits, and with whom an epoch is open.
func mpichMayLack(expression, path string) bool {
	switch expression {
	case "done":
		return strings.HasPrefix(path, "operation.") || path == "communicator"
	case "sending":
		return strings.HasPrefix(path, "operation.") && path != "operation.status"
	case "posted":
		return path == "window.epochs[0].ranks"
	case "locked":
		return path == "window.epochs[0].exclusive"
	}
	return path == "files"
}

// LoadRecordedHandles reads what stands beside a recording: [HandleEntry] values, with what was in the variables.
func LoadRecordedHandles(path string) ([]HandleEntry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries []HandleEntry
	if err := decode(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

// LoadHandles reads what the process of an account says of its handles.
func LoadHandles(folder string, of *Account) ([]HandleEntry, error) {
	path := filepath.Join(folder, strings.Replace(of.Name, "rank", "handles", 1)+".json")
	return LoadRecordedHandles(path)
}

// ParseHandle reads what `mpi-handle -json' has written.
func ParseHandle(text []byte) (Object, error) {
	var o Object
	if err := decode(text, &o); err != nil {
		return nil, fmt.Errorf("not a document of mpi-handle: %w\n%.400s", err, text)
	}
	return o, nil
}

// CompareHandle returns what differs between what a program says of a handle and what is shown of
// it. isUnknown names what may be null instead, by the handle's expression and a path of keys: "window.epochs".
func CompareHandle(entry *HandleEntry, shown Object, isUnknown func(expression, path string) bool) []string {
	var out []string
	compareObject(entry.Handle, shown, "", func(path string, want, got any) {
		if got == nil && isUnknown(entry.Expression, path) {
			return
		}
		out = append(out, fmt.Sprintf("%s: %s is %s, and the program says %s", entry.Expression, path, show(got), show(want)))
	})
	return out
}

func compareObject(want, got Object, path string, differ func(path string, want, got any)) {
	for _, key := range sortedKeys(want) {
		at := strings.TrimPrefix(path+"."+key, ".")
		w, g := want[key], got[key]
		inner, isObject := w.(map[string]any)
		shown, isShown := g.(map[string]any)
		words, isChoice := w.([]any)
		switch {
		case isObject && isShown:
			compareObject(inner, shown, at, differ)
		case isChoice && isWord(g):
			if !slices.Contains(words, g) {
				differ(at, w, g)
			}
		case isChoice && isObjects(words):
			compareList(words, g, at, differ)
		case !reflect.DeepEqual(w, g):
			differ(at, w, g)
		}
	}
}

// compareList compares lists of objects, whose elements may have more keys.
func compareList(want []any, got any, path string, differ func(path string, want, got any)) {
	list, _ := got.([]any)
	if len(list) != len(want) {
		differ(path, want, got)
		return
	}
	for i := range want {
		shown, ok := list[i].(map[string]any)
		if !ok {
			differ(path, want, got)
			return
		}
		compareObject(want[i].(map[string]any), shown, fmt.Sprintf("%s[%d]", path, i), differ)
	}
}

func isWord(v any) bool { _, ok := v.(string); return ok }

func isObjects(list []any) bool {
	for _, e := range list {
		if _, ok := e.(map[string]any); !ok {
			return false
		}
	}
	return len(list) > 0
}
