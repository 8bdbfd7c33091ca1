package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

func replayCommand() *cobra.Command {
	var v view
	var h handle
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show the queues in a recording, without gdb",
		Long: "Shows what gdb's command `mpi-queues -record FILE' recorded. No gdb and no MPI is needed.\n\n" +
			"With --handle it shows what a handle stood for, as gdb's command `mpi-handle' does. A\n" +
			"recording has the objects that the MPI library keeps tables of, up to 1000 of a kind, and\n" +
			"those of the variables in sight. Of others it says that they are not known.",
		Example: "  mpi-queues replay queues.mpiq\n" +
			"  mpi-queues replay queues.mpiq --view windows\n" +
			"  mpi-queues replay queues.mpiq --handle 0x84000002 --type comm",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := v.filter()
			if err == nil {
				err = h.check(cmd)
			}
			if err != nil {
				return usage(err)
			}
			r, err := recording.Open(args[0])
			if err != nil {
				return unreadable(err)
			}
			if h.isAsked() {
				return h.run(cmd.Context(), r, &v)
			}
			if err := replay(cmd.Context(), r, f, &v); err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	v.flags(cmd)
	h.flags(cmd)
	return cmd
}

// replay shows the queues.
func replay(ctx context.Context, r *recording.Recording, f read.Filter, v *view) error {
	s, err := r.Read(ctx, decoders.All, f)
	if err != nil && v.json && len(r.Processes) == 1 {
		// JSON is one document, whatever it says.
		if err := v.show(&mqs.Snapshot{Processes: []*mqs.Process{read.Failed(r.Processes[0].Info(), err)}}); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return v.show(s)
}
