package expect

import (
	"fmt"
	"slices"
)

// lists are where a process of a document has the objects of handles, by the kind of the handles and the key of
// the object in what is said of a handle.
var lists = []struct{ kind, object, list string }{
	{"comm", "communicator", "communicators"}, {"win", "window", "windows"}, {"file", "file", "files"},
}

// CompareListed says how the communicators, windows and files of a process of a document differ from what the
// program says of its handles: each must be there, with what is said of it, and no other but predefined
// communicators and those that the library has made for one of the windows or files. mayLack is as [Library.MayLack]; of a list that is
// not known it is asked by the list's key alone.
func CompareListed(entries []HandleEntry, process Object, mayLack func(expression, path string) bool) []string {
	var out []string
	for _, l := range lists {
		if process[l.list] == nil && mayLack("", l.list) {
			continue
		}
		left := Objects(process[l.list])
		seen := map[string]bool{}
		for _, e := range entries {
			if e.Kind() != l.kind || !e.IsObject() || e.Type != "" || seen[e.Value] {
				continue
			}
			seen[e.Value] = true
			i := slices.IndexFunc(left, func(o Object) bool { return o["handle"] == e.Value })
			if i < 0 {
				if !mayLack(e.Expression, l.list) {
					out = append(out, fmt.Sprintf("%s (%s) is not among the %s", e.Expression, e.Value, l.list))
				}
				continue
			}
			part := HandleEntry{Expression: e.Expression, Handle: Object{l.object: e.Handle[l.object]}}
			out = append(out, CompareHandle(&part, Object{l.object: map[string]any(left[i])}, mayLack)...)
			left = slices.Delete(left, i, i+1)
		}
		for _, o := range left {
			if !predefined(o) && !serves(o, process, "window", "windows") && !serves(o, process, "file", "files") {
				out = append(out, fmt.Sprintf("%s is among the %s, and the program says nothing of it", label(o), l.list))
			}
		}
	}
	return out
}

// serves says whether a communicator is that of one of the windows or files, of which it says the name.
func serves(communicator, process Object, key, list string) bool {
	name := communicator[key]
	if process[list] == nil {
		return name != nil
	}
	return slices.ContainsFunc(Objects(process[list]), func(o Object) bool {
		return o["name"] == name && o["communicator"] == communicator["unique_id"]
	})
}
