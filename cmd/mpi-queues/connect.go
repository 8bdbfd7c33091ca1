package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
)

// connectName is the command that gdb starts to reach another node.
const connectName = "connect"

func connectCommand() *cobra.Command {
	return &cobra.Command{
		Use:    connectName + " LINE",
		Hidden: true,
		Short:  "Run a command line that is a debugger's connection with a gdbserver",
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			if err := cluster.Connect(ctx, args[0], os.Stdin, os.Stdout, os.Stderr, cluster.ConnectPatience); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
}
