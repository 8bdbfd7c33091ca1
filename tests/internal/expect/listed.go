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
// communicators and those that the library has made for one of the windows or files. mayLack is as
// [Library.MayLack]; of what is not in a list it is asked by the list's key.
func CompareListed(entries []HandleEntry, process Object, mayLack func(expression, path string) bool) []string {
	var out []string
	for _, l := range lists {
		if process[l.list] == nil && mayLack("", l.list) {
			continue
		}
		all := Objects(process[l.list])
		told := make([]bool, len(all))
		for _, e := range entries {
			if e.Kind() != l.kind || !e.IsObject() {
				continue
			}
			i := slices.IndexFunc(all, e.isOf)
			if i < 0 {
				if !mayLack(e.Expression, l.list) {
					out = append(out, fmt.Sprintf("%s (%s) is not among the %s", e.Expression, e.Value, l.list))
				}
				continue
			}
			told[i] = true
			part := HandleEntry{Expression: e.Expression, Handle: Object{l.object: e.Handle[l.object]}}
			out = append(out, CompareHandle(&part, Object{l.object: map[string]any(all[i])}, mayLack)...)
		}
		unlisted := unlistedFiles(entries, process)
		for i, o := range all {
			switch {
			case told[i], predefined(o), serves(o, process, "window", "windows"), serves(o, process, "file", "files"):
			case o["handle"] == nil && mayLack("", l.list): // it is one of those that were not found
			case o["name"] == "" && unlisted > 0:
				unlisted-- // the communicator that the library has made for it
			default:
				out = append(out, fmt.Sprintf("%s is among the %s, and the program says nothing of it", label(o), l.list))
			}
		}
	}
	return out
}

// isOf says whether an object of a list is that of the handle.
func (e *HandleEntry) isOf(o Object) bool {
	return o["handle"] == e.Value || fmt.Sprint(o["fortran_handle"]) == e.Value
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

// unlistedFiles is how many files the program has, if the library has no list of them.
func unlistedFiles(entries []HandleEntry, process Object) (n int) {
	for _, e := range entries {
		if process["files"] == nil && e.Kind() == "file" && e.IsObject() {
			n++
		}
	}
	return n
}
