package main

import (
	"runtime/debug"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
)

func helperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "helper",
		Hidden: true,
		Short:  "Serve gdb's extension on standard input and output",
		Long:   "The extension in gdb starts this by itself: it speaks JSON-RPC on standard input and output.",
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It lives for a command at a time and then lies idle.
			debug.SetGCPercent(400)
			stream, err := helper.TakeStdio()
			if err != nil {
				return unreadable(err)
			}
			log := helper.Log(zerolog.WarnLevel)
			h := helper.New(version(), log, nil)
			h.Far = farRanks
			defer h.Close()
			if err := h.Server(log).Serve(cmd.Context(), stream); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
}
