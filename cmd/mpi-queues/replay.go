package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/target"
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
			s, err := replay(cmd.Context(), r, f)
			if err != nil && v.json && len(r.Targets) == 1 {
				// JSON is one document, whatever it says.
				if err := v.show(&mqs.Snapshot{Processes: []*mqs.Process{mqs.Failed(r.Targets[0].Info(), err)}}); err != nil {
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

// replay collects the processes of a recording as gdb's command has collected them.
func replay(ctx context.Context, r *recording.Recording, f mqs.Filter) (*mqs.Snapshot, error) {
	read := func(ctx context.Context, t target.Target, f mqs.Filter) (*mqs.Process, error) {
		return r.Process(ctx, decoders, t, f)
	}
	return readBeside(ctx, func(string) {}, r.Targets, r.Beside, f, read)
}
