package main

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/supervisor"
)

func superviseCommand() *cobra.Command {
	var out, errs int
	c := &cobra.Command{
		Use:    "supervise",
		Hidden: true,
		Short:  "Start a job for gdb's extension",
		Long:   "The extension in gdb starts this by itself: it speaks JSON-RPC on standard input and output.",
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stream, err := helper.TakeStdio()
			if err != nil {
				return unreadable(err)
			}
			files := []*os.File{}
			for _, fd := range []int{out, errs} {
				unix.CloseOnExec(fd)
				files = append(files, os.NewFile(uintptr(fd), fmt.Sprint("output ", fd)))
			}
			log := helper.Log(zerolog.WarnLevel)
			s := supervisor.New(version(), os.Getppid(), files[0], files[1])
			// However this ends, the job has to end as well.
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
			defer stop()
			defer s.Close()
			if err := s.Server(log).Serve(ctx, stream); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	c.Flags().IntVar(&out, "output", 1, "the descriptor of the job's standard output")
	c.Flags().IntVar(&errs, "errors", 2, "the descriptor of the job's standard error")
	return c
}
