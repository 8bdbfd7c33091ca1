package main

import (
	"errors"
	"fmt"
	"net"
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
	// What is left open of these the DLL might take for its own.
	inherited := os.NewFile(dll.StreamFD, "stream")
	stream, err := net.FileConn(inherited)
	if err != nil {
		return errors.New("only the helper can start this")
	}
	_ = inherited.Close()
	state, err := wire.MapState(os.NewFile(dll.StateFD, "state"))
	if err != nil {
		return err
	}
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
