package main

import (
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/dllhost"
)

func dllHostCommand() *cobra.Command {
	return &cobra.Command{
		Use:       dllhost.Name,
		Hidden:    true,
		Short:     "Run a vendor's queue DLL for the helper",
		Long:      "The helper starts this by itself, once for each DLL.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{dllhost.Confined},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unreadable(dllhost.BecomeConfined())
			}
			return unreadable(dllhost.Serve())
		},
	}
}
