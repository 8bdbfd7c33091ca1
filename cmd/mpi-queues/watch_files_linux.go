package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/atomicfile"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// writeAll writes the report's files. What can't be written is no reason to leave out the rest.
func (w *watching) writeAll(ctx context.Context, r *waitfor.Report) error {
	folder, err := atomicfile.Folder(w.folder) // by now it can be another
	if err != nil {
		return err
	}
	for name, write := range map[string]func(*os.File) error{
		"report.txt":  func(f *os.File) error { return render.ReportText(f, r, render.Style{}) },
		"report.html": func(f *os.File) error { return render.ReportHTML(f, r) },
		"report.json": func(f *os.File) error { return document.WriteReport(f, r) },
		"queues.json": func(f *os.File) error { return document.Write(f, snapshotOf(r)) },
	} {
		err = errors.Join(err, atomicfile.WriteOwn(filepath.Join(folder, name), write))
	}
	if w.question == nil {
		err = errors.Join(err, w.recordAll(ctx, r, folder))
	}
	return err
}

// snapshotOf is what a report was made of.
func snapshotOf(r *waitfor.Report) *mqs.Snapshot {
	var all []*mqs.Process
	for _, rank := range r.Ranks {
		if rank.Process != nil {
			all = append(all, rank.Process)
		}
	}
	return &mqs.Snapshot{Processes: all}
}

// recordAll records the ranks that a report blames, into a folder.
func (w *watching) recordAll(ctx context.Context, r *waitfor.Report, folder string) error {
	g, err := w.report.newGDB(new(launch.Finder))
	if err != nil {
		return err
	}
	defer g.Close()
	for _, rank := range w.culprits(r) {
		name := fmt.Sprintf("rank-%d.mpiq", rank.Rank)
		recording := filepath.Join(g.Folder(), name)
		recordErr := recordRank(ctx, g, rank.Process.PID, recording)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if recordErr == nil {
			recordErr = atomicfile.WriteOwn(filepath.Join(folder, name), func(f *os.File) error { return copyFile(f, recording) })
		}
		if recordErr != nil {
			err = errors.Join(err, fmt.Errorf("rank %d can't be recorded: %w", rank.Rank, recordErr))
		}
	}
	return err
}

// copyFile writes what another file has.
func copyFile(to *os.File, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	_, err = io.Copy(to, from)
	return err
}

// recordRank has a gdb record one rank.
func recordRank(ctx context.Context, g *gdbrun.GDB, pid int, file string) error {
	before, err := tracee.Read(pid)
	if err == nil {
		err = before.Obstacle()
	}
	if err == nil {
		err = tracee.CanStop(ctx, pid)
	}
	if err == nil {
		err = g.Record(ctx, before, file)
	}
	var refusal *gdbrun.AttachError
	if errors.As(err, &refusal) {
		err = tracee.Refused(pid, refusal.Reason)
	}
	return err
}
