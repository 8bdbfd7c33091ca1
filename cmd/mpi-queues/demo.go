package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
)

func demoCommand() *cobra.Command {
	var recording bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a small MPI program that hangs, and show why",
		Long: "Starts three ranks of a small program that deadlocks, shows their message queues through\n" +
			"gdb and says why they hang. gdb, Open MPI and a C compiler are installed if they are\n" +
			"missing (apt-get, dnf or zypper; as root or through sudo). Where that can't be done, a\n" +
			"recording of the same program is shown. Nothing that it starts or writes remains.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			err := demo.Run(ctx, os.Stdout, isStyled(os.Stdout), recording, version())
			if ctx.Err() != nil {
				err = errors.New("interrupted; the demo's processes and files are gone")
			}
			if err != nil {
				return unreadable(err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&recording, "recording", false, "show the recording at once: no gdb and no MPI is needed")
	return cmd
}
