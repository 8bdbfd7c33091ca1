package main

import (
	"io"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// write renders a snapshot as "json" or, any other format, as text in a style.
func write(w io.Writer, s *mqs.Snapshot, format string, style render.Style) error {
	if format == "json" {
		return document.Write(w, s)
	}
	return render.Text(w, s, style)
}
