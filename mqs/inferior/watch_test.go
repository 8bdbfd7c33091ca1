package inferior_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// watching is a process that remembers what is used of it.
type watching struct {
	inferior.Inferior
	bytes   int
	objects map[inferior.Addr]map[string]layout.Field
}

func (w *watching) SawMemory(_ inferior.Addr, b []byte) { w.bytes += len(b) }

func (w *watching) SawObject(name string, at inferior.Addr, members map[string]layout.Field) {
	if name == "item" {
		w.objects[at] = members
	}
}

// A watcher is told of each object that is read, and of the members that are taken of it, and of no more memory than is used.
func TestWatcher(t *testing.T) {
	p := inferiortest.New()
	p.PutUint64(0x1000, 1, 2, 3)
	p.Types["item"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"new": inferiortest.Field(8, 8, layout.KindUnsigned)}}
	w := &watching{Inferior: p, objects: map[inferior.Addr]map[string]layout.Field{}}
	r := inferior.NewReader(t.Context(), w)
	var types struct {
		Item inferior.Struct[struct {
			Value uint64 `c:"old|new"`
			Lacks uint64 `c:"lacks,optional"`
		}] `c:"item"`
	}
	layouts, err := inferior.FromDebugInfo(r, inferior.Queries(&types))
	if err != nil {
		t.Fatal(err)
	}
	if err := inferior.Bind(&types, layouts); err != nil {
		t.Fatal(err)
	}
	got, err := types.Item.Read(r, 0x1000)
	if err != nil || got.Value != 2 || w.bytes != 16 {
		t.Errorf("%+v, %v, %d bytes", got, err, w.bytes)
	}
	if of := w.objects[0x1000]; len(w.objects) != 1 || len(of) != 1 || of["new"].Offset != 8 {
		t.Errorf("%v", w.objects)
	}
}
