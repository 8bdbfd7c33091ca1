package mpir

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// openLibrary opens the library of a process that has debug information.
func openLibrary(t *testing.T, tg inferior.Inferior) *Library {
	t.Helper()
	r := inferior.NewReader(context.Background(), tg)
	symbols, err := r.Symbols(Symbols()...)
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := inferior.FromDebugInfo(r, inferior.Queries(Types()...))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Bind(r, symbols, layouts)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Prove(); err != nil {
		t.Fatal(err)
	}
	return l
}

// member is where a member of a type that the library is read by stands in an object.
func (l *Library) member(t *testing.T, object inferior.Addr, name, path string) inferior.Addr {
	t.Helper()
	f, ok := l.Layouts.Field(name, path)
	if !ok {
		t.Fatalf("no %s.%s", name, path)
	}
	return object + inferior.Addr(f.Offset)
}

func TestFileName(t *testing.T) {
	for object, want := range map[string]string{"": "the MPI library", "/opt/lib/libmpi.so.12": "libmpi.so.12"} {
		if got := FileName(inferior.Symbol{Object: object}); got != want {
			t.Errorf("%q is called %q", object, got)
		}
	}
}
