package host

import (
	"context"
	"errors"
	"os"

	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// helperInferior is the process that is open. It is read through the helper.
type helperInferior struct {
	h    *host
	info inferior.Info
}

// ask asks the helper and waits. The DLL waits too, in the call-back that needs the answer.
func (h *host) ask(a wire.Ask) (*wire.Answer, error) {
	if err := h.conn.Send(wire.FromHost{Ask: &a}); err != nil {
		os.Exit(0) // the helper has gone
	}
	m := <-h.in
	if m.Answer == nil {
		return nil, errOrder
	}
	if m.Answer.Error != "" {
		return nil, errors.New(m.Answer.Error)
	}
	return m.Answer, nil
}

func (a helperInferior) Info() inferior.Info { return a.info }

func (a helperInferior) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := a.h.ask(wire.Ask{Ranges: ranges})
	if err != nil {
		return nil, err
	}
	return got.Memory, nil
}

func (a helperInferior) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	got, err := a.h.ask(wire.Ask{Symbols: names})
	if err != nil {
		return nil, err
	}
	out := make([]*inferior.Symbol, len(names))
	for i := range got.Symbols {
		if got.Symbols[i].Found {
			out[i] = &got.Symbols[i].Symbol
		}
	}
	return out, nil
}

func (a helperInferior) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	got, err := a.h.ask(wire.Ask{Types: queries})
	if err != nil {
		return nil, err
	}
	out := make([]*layout.Layout, len(queries))
	for i := range got.Types {
		if got.Types[i].Found {
			out[i] = &got.Types[i].Layout
		}
	}
	return out, nil
}

// Threads is nothing that a DLL can ask for.
func (a helperInferior) Threads(context.Context, int, []string) ([]inferior.Thread, error) {
	return nil, errOrder
}
