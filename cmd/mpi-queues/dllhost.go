package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/dll/confine"
	"github.com/mpi-queues/mpi-queues/mqs/dll/host"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// dllHost is the name of the command that runs a vendor's DLL.
const dllHost = "dll-host"

// confined is its argument once it is confined.
const confined = "confined"

func dllHostCommand() *cobra.Command {
	return &cobra.Command{
		Use:       dllHost,
		Hidden:    true,
		Short:     "Run a vendor's queue DLL for the helper",
		Long:      "The helper starts this by itself, once for each DLL.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{confined},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unreadable(becomeConfined())
			}
			return unreadable(serveDLL())
		},
	}
}

// becomeConfined starts this program anew, confined. It returns only if that fails.
func becomeConfined() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return confine.Exec(self, []string{os.Args[0], dllHost, confined}, os.Environ())
}

// serveDLL serves on what the helper has started this process with.
func serveDLL() error {
	// A file and not a connection: those want calls that a confined process is refused.
	stream := os.NewFile(dll.StreamFD, "stream")
	if info, err := stream.Stat(); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return errors.New("only the helper can start this")
	}
	state, err := wire.MapState(os.NewFile(dll.StateFD, "state"))
	if err != nil {
		return err
	}
	// One protection less, on an old kernel, is no reason to do without the others; the
	// confinement that is shown says so.
	_ = confine.Seal()
	return host.Serve(stream, state)
}

// newDLLHost is the command that runs a vendor's DLL, in a process of its own.
func newDLLHost() *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = fmt.Sprintf("/proc/%d/exe", os.Getpid())
	}
	return exec.Command(self, dllHost)
}
