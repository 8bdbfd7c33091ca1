package main

import (
	"context"
	"io"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// decoders are the MPI implementations that are decoded natively, in the order
// in which they are tried.
var decoders = []mqs.Decoder{openmpi.Decoder{}, mpich.Decoder{}}

// readFunc collects what a filter keeps of one process.
type readFunc func(ctx context.Context, t target.Target, f mqs.Filter) (*mqs.Process, error)

// readNatively reads by the native decoders.
func readNatively(ctx context.Context, t target.Target, f mqs.Filter) (*mqs.Process, error) {
	return mqs.Read(ctx, t, decoders, f)
}

// readAll collects several. One that can't be read says so in the snapshot,
// but if it is the only one, that is an error.
func readAll(ctx context.Context, targets []target.Target, f mqs.Filter, read readFunc) (*mqs.Snapshot, error) {
	s := &mqs.Snapshot{}
	for _, t := range targets {
		p, err := read(ctx, t, f)
		if err != nil {
			if len(targets) == 1 || ctx.Err() != nil {
				return nil, err
			}
			p = failed(ctx, t, err)
		}
		s.Processes = append(s.Processes, p)
	}
	return s, nil
}

// failed is a process that could not be read: where it stands is of use all the same.
func failed(ctx context.Context, t target.Target, err error) *mqs.Process {
	p := mqs.Failed(t.Info(), err)
	mqs.Locate(ctx, t, p)
	return p
}

// write renders a snapshot as "json" or, any other format, as text in a style.
func write(w io.Writer, s *mqs.Snapshot, format string, style render.Style) error {
	if format == "json" {
		return render.JSON(w, s)
	}
	return render.Text(w, s, style)
}
