package inferior

import "github.com/mpi-queues/mpi-queues/mqs/layout"

// Wants lists the types that structs of [Struct] fields bind, and their members: what a table of
// layouts is to have.
func Wants(structs ...any) []layout.Want {
	var out []layout.Want
	for _, of := range structs {
		eachStruct(of, func(name string, _ bool, b binder) {
			w := layout.Want{Name: name}
			for _, m := range membersOf(b.goType()) {
				w.Members = append(w.Members, m.paths)
			}
			out = append(out, w)
		})
	}
	return out
}
