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
	var isRelayed bool
	cmd := &cobra.Command{
		Use:    connectName + " LINE",
		Hidden: true,
		Short:  "Run a command line that is a debugger's connection with a gdbserver",
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			if err := cluster.Connect(ctx, args[0], isRelayed, os.Stdin, os.Stdout, os.Stderr, cluster.ConnectPatience); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&isRelayed, cluster.Relayed, false, "the line has what a gdbserver says through the command "+cluster.RelayName)
	return cmd
}

// relayCommand is what engines of hosts start on another node.
func relayCommand() *cobra.Command {
	return &cobra.Command{
		Use:    cluster.RelayName,
		Hidden: true,
		Short:  "Run a gdbserver, and write what it says in lines",
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := cluster.Relay(os.Stdout); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
}
