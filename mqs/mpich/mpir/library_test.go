package mpir

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
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

// The version is in the library's own words, as far as it has them and their strings end.
func TestVersion(t *testing.T) {
	p := inferiortest.New()
	p.Put(0x1000, []byte("4.0.2\x00/home/builder"))
	p.Put(0x2000, []byte("ch4:ucx\x00"))
	p.Put(0x3000, bytes.Repeat([]byte("x"), maxVersion+1))
	longest := strings.Repeat("x", maxVersion-1)
	p.Put(0x4000, []byte(longest+"\x00"))
	for _, c := range []struct {
		version, device inferior.Addr // 0 where there is no symbol
		want            string
	}{{0x1000, 0x2000, "4.0.2 ch4:ucx"}, {0x1000, 0, "4.0.2"}, {0, 0x2000, "ch4:ucx"}, {0x4000, 0, longest}, {0x3000, 0x2000, "ch4:ucx"}, {0, 0, ""}} {
		symbols := map[string]inferior.Symbol{}
		for name, at := range map[string]inferior.Addr{SymVersion: c.version, SymDevice: c.device} {
			if at != 0 {
				symbols[name] = inferior.Symbol{Addr: at}
			}
		}
		if got := Version(inferior.NewReader(t.Context(), p), symbols); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
