package inferior_test

import (
	"context"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

func TestBigEndian(t *testing.T) {
	f := inferiortest.New()
	f.Identity = inferior.Info{PointerSize: 4, BigEndian: true}
	l := pointLayout()
	l.Fields["next"] = field(32, 4, layout.KindPointer)
	f.Types["point_t"] = l
	mem := make([]byte, 0x1000)
	copy(mem, "\xff\xfe\x00\x00\x00\x00\x00\x07")
	copy(mem[32:], "\x12\x34\x56\x78")
	f.Memory[0x1000] = mem
	r := inferior.NewReader(context.Background(), f)
	layouts, _ := inferior.FromDebugInfo(r, inferior.Queries(&shapes{}))
	var s shapes
	if err := inferior.Bind(&s, layouts); err != nil {
		t.Fatal(err)
	}
	p, err := s.Point.Read(r, 0x1000)
	if err != nil || p.X != -2 || p.Index != 7 || p.Next != 0x12345678 {
		t.Errorf("read %+v, %v", p, err)
	}
}
