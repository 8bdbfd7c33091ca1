package main

import (
	"os"
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
			stream, err := takeStdio()
			if err != nil {
				return unreadable(err)
			}
			log := helperLog()
			h := helper.New(version(), log, nil)
			defer h.Close()
			if err := h.Server(log).Serve(cmd.Context(), stream); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
}

// helperLog logs to stderr, at the level that `set mpi-queues debug` asks for.
func helperLog() zerolog.Logger {
	level := zerolog.WarnLevel
	if os.Getenv("MPI_QUEUES_DEBUG") != "" {
		level = zerolog.DebugLevel
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, NoColor: true}).Level(level).With().Timestamp().Logger()
}
