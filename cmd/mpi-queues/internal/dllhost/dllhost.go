// Package dllhost makes this program the confined process that runs a vendor's DLL.
package dllhost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/dll/confine"
	"github.com/mpi-queues/mpi-queues/mqs/dll/host"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// Name is the name of the command that runs a vendor's DLL.
const Name = "dll-host"

// Confined is its argument once it is confined.
const Confined = "confined"

// BecomeConfined starts this program anew, confined. It returns only if that fails.
func BecomeConfined() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := os.Stat(self); err != nil { // its file may have no name any more
		self = "/proc/self/exe"
	}
	return confine.Exec(self, []string{os.Args[0], Name, Confined}, os.Environ())
}

// Serve serves on what the helper has started this process with.
func Serve() error {
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

// Command is the command that runs a vendor's DLL, in a process of its own.
func Command() *exec.Cmd {
	self, err := os.Executable()
	if err == nil {
		_, err = os.Stat(self)
	}
	if err != nil { // its file may have no name any more
		self = fmt.Sprintf("/proc/%d/exe", os.Getpid())
	}
	return exec.Command(self, Name)
}
