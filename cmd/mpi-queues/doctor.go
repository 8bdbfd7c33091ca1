package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/doctor"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

func doctorCommand() *cobra.Command {
	var s settings
	pid := 0
	cmd := &cobra.Command{
		Use:   "doctor [PID]",
		Short: "Say what works on this machine, and with one MPI program",
		Long: "Checks whether gdb runs here and may attach to your processes, and how other machines are\n" +
			"reached. With the process id of a rank or of a launcher, it also reports the job, the MPI of\n" +
			"one rank, how that rank's queues are read, and what remains unknown. gdb is attached to that\n" +
			"rank for a moment.\n\n" +
			"Each finding begins with `ok'; with `!' if something is missing that you may not need, or is\n" +
			"unknown; or with `no', and then says what to do.\n\n" +
			"Exit status: 0 if no finding begins with `no', 1 if one does, 2 if the command line is wrong.",
		Example: "  mpi-queues doctor\n" +
			"  mpi-queues doctor $(pgrep -n mpirun)",
		Args: func(_ *cobra.Command, args []string) error {
			if err := s.check(); err != nil {
				return usage(err)
			}
			if len(args) > 1 {
				return usage(errors.New("one process is enough: mpi-queues doctor PID"))
			}
			if len(args) == 1 {
				n, err := strconv.ParseInt(args[0], 10, 32)
				if err != nil || n <= 0 {
					return usage(fmt.Errorf("%q is not a process id", args[0]))
				}
				pid = int(n)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return examine(ctx, cmd.OutOrStdout(), &s, pid)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	s.flags(cmd)
	return cmd
}

// examine writes the findings on this machine and, unless pid is 0, on that process, each as soon as it is there.
func examine(ctx context.Context, w io.Writer, s *settings, pid int) error {
	hasFailed := false
	var writing error
	tell := func(findings ...doctor.Finding) {
		hasFailed = hasFailed || doctor.HasFailed(findings)
		writing = errors.Join(writing, doctor.Write(w, findings...))
	}
	tell(doctor.Finding{State: doctor.Works, Name: "mpi-queues", Text: fmt.Sprintf("%s on %s/%s", version(), runtime.GOOS, runtime.GOARCH)})
	known := new(launch.Finder)
	path, err := gdbrun.Find(s.gdb)
	var g *gdbrun.GDB
	if err == nil {
		g, err = s.newGDB(known)
	}
	if err != nil {
		tell(doctor.Finding{State: doctor.Fails, Name: "gdb", Text: err.Error()})
	} else {
		defer g.Close()
		tell(doctor.GDB(ctx, path, s.timeout))
	}
	usable := !hasFailed
	if usable && pid == 0 {
		tell(doctor.Attach(ctx, g))
	}
	tell(doctor.Tools())
	if pid != 0 {
		launch.Await(ctx, pid)
		job, target := doctor.Job(known, pid)
		tell(job...)
		switch {
		case target == 0:
		case !usable:
			tell(doctor.Finding{State: doctor.Partly, Name: "process", Text: fmt.Sprintf("process %d was not read, since there is no gdb for it", target)})
		default:
			of, err := doctor.Process(ctx, g, target)
			if err != nil {
				of = []doctor.Finding{{State: doctor.Fails, Name: "process", Text: err.Error()}}
			}
			tell(of...)
		}
	}
	switch {
	case ctx.Err() != nil:
		return unreadable(errInterrupted)
	case writing != nil:
		return unreadable(writing)
	case hasFailed:
		return &exitError{exitUnreadable, nil}
	}
	return nil
}
