package main

import (
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
)

// startCommands are those that start jobs.
func startCommands() []*cobra.Command {
	return []*cobra.Command{runCommand(), rankCommand(), launchCommand(), superviseCommand(), watchCommand()}
}

func runCommand() *cobra.Command {
	var gdb string
	var nonStop, goes bool
	c := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT]...",
		Short: "Start a job in gdb, with all its ranks stopped in main",
		Long: "run opens gdb and has it start a job: COMMAND is what starts the job in a shell. All ranks\n" +
			"are stopped in main; in gdb, `mpi-continue' lets them go on. `mpi-run' in gdb does the same.",
		Example: "  mpi-queues run -- mpirun -n 4 ./my-program input.dat",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := gdbrun.Find(gdb)
			if err != nil {
				return unreadable(err)
			}
			init, err := unpacked()
			if err != nil {
				return unreadable(err)
			}
			self, err := os.Executable()
			if err != nil {
				return unreadable(err)
			}
			line := []string{path, "-q", "-ex", "source " + init, "-ex", mpiRun(args, nonStop, goes)}
			return unreadable(syscall.Exec(path, line, append(os.Environ(), "MPI_QUEUES_HELPER="+self)))
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&gdb, "gdb", "", "the gdb to run, instead of the first in PATH")
	c.Flags().BoolVar(&nonStop, "non-stop", false, "let ranks stop one by one")
	c.Flags().BoolVar(&goes, "continue", false, "do not stop in main")
	return c
}

// mpiRun is gdb's command that starts a job.
func mpiRun(args []string, nonStop, goes bool) string {
	words := []string{"mpi-run"}
	if nonStop {
		words = append(words, "-non-stop")
	}
	if !goes {
		words = append(words, "-start")
	}
	words = append(words, "--")
	return strings.Join(append(words, string(commandline.Quote(args...))), " ")
}
