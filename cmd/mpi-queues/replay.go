package main

import (
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

func replayCommand() *cobra.Command {
	var v view
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show the queues in a recording, without gdb",
		Long:  "Shows what gdb's command `mpi-queues -record FILE' recorded. No gdb and no MPI is needed.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := v.filter()
			if err != nil {
				return usage(err)
			}
			r, err := recording.Open(args[0])
			if err != nil {
				return unreadable(err)
			}
			s, err := r.Read(cmd.Context(), decoders.All, f)
			if err != nil && v.json && len(r.Processes) == 1 {
				// JSON is one document, whatever it says.
				if err := v.show(&mqs.Snapshot{Processes: []*mqs.Process{read.Failed(r.Processes[0].Info(), err)}}); err != nil {
					return unreadable(err)
				}
			}
			if err == nil {
				err = v.show(s)
			}
			if err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	v.flags(cmd)
	return cmd
}
