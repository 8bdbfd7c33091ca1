package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bulk bytes arrive whole both ways, by the window and without it.
func TestBulkBytes(t *testing.T) {
	memory := bytes.Repeat([]byte("0123456789abcdef"), windowSize/16)
	for _, shared := range []bool{true, false} {
		var g *gdb
		g = serve(t, handler(func(ctx context.Context, d *Debugger, p inferior.Inferior) error {
			got, err := p.ReadMemory(ctx, []inferior.Range{{Addr: 16, Len: 32}, {Addr: 0, Len: windowSize - 64}, {Addr: windowSize - 8, Len: 16}})
			if err != nil {
				return err
			}
			out := d.Stream(ctx, "display")
			for _, b := range got {
				if _, err := out.Write(b); err != nil {
					return err
				}
			}
			_, err = out.Write(memory[:100])
			return err
		}).server(), fromMemory(&g, memory, shared))
		g.maps = shared
		g.initialize(t)
		r, err := g.queues()
		if err != nil {
			t.Fatal(err)
		}
		want := string(memory[16:48]) + string(memory[:windowSize-64]) + string(memory[windowSize-8:]) + string(memory[:100])
		if g.written.String() != want {
			t.Errorf("shared %v: %d bytes differ from %d", shared, g.written.Len(), len(want))
		}
		if r.RoundTrips != 1 || r.BytesRead != windowSize-24 {
			t.Errorf("shared %v: %+v", shared, r)
		}
	}
}

// fromMemory answers calls for memory, which begins at 0, by the window or without it.
func fromMemory(g **gdb, memory []byte, shared bool) func(method string, params json.RawMessage) (any, error) {
	return func(_ string, params json.RawMessage) (any, error) {
		var p ReadMemoryParams
		if err := json.Unmarshal(params, &p); err != nil || p.Inferior != 3 {
			return nil, errors.Join(err, errors.New("not inferior 3"))
		}
		var r ReadMemoryResult
		var all []byte
		for _, want := range p.Ranges {
			b := memory[want.Address:min(int(want.Address)+want.Length, len(memory))]
			r.Readable = append(r.Readable, len(b))
			all = append(all, b...)
		}
		if shared {
			copy((*g).window, all)
		} else {
			r.Data = all
		}
		return r, nil
	}
}
