// Package gdbrun reads processes and core files through a gdb of its own, which runs in batch. This
// process is the helper of that gdb's extension: it gives gdb one end of a socket, and serves the
// bridge's protocol on the other.
package gdbrun

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/extension"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/scratch"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

//go:embed attach.py
var attachScript []byte

// GDB is a debugger program to run in batch, and the extension, unpacked for it.
type GDB struct {
	path string
	config
	// folder is for the extension and what gdb writes.
	folder *scratch.Folder
	// gdbinit and script are the paths of files in it.
	gdbinit, script string
}

// config is what a GDB is made with.
type config struct {
	version  string
	timeout  time.Duration
	settings Settings
	jobs     *launch.Finder
}

// ErrNone means that a gdb has to be installed.
var ErrNone = errors.New("there is no gdb in the folders of PATH")

// Find returns the path of the gdb to run: the one that the flag --gdb names, or
// $MPI_QUEUES_GDB, or the first in PATH.
func Find(flag string) (string, error) {
	for _, named := range []struct{ name, by string }{{flag, "--gdb"}, {os.Getenv("MPI_QUEUES_GDB"), "MPI_QUEUES_GDB in the environment"}} {
		if named.name == "" {
			continue
		}
		path, err := exec.LookPath(named.name)
		if err != nil {
			return "", fmt.Errorf("the gdb %q, named by %s, can't be run (%w): name another", named.name, named.by, cause(err))
		}
		return path, nil
	}
	path, err := exec.LookPath("gdb")
	if err != nil {
		return "", fmt.Errorf("%w: install it, or name one with --gdb PATH", ErrNone)
	}
	return path, nil
}

// cause is an error of package exec without the program's name, which the sentence around it says.
func cause(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// New unpacks the extension for the gdb at path. Whether that can run it is seen when it does. A gdb
// that makes no progress within timeout is ended. version is this program's, and jobs knows who has
// launched processes. [GDB.Close] removes what it leaves.
func New(path, version string, timeout time.Duration, s Settings, jobs *launch.Finder) (*GDB, error) {
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	g := &GDB{path: path, config: config{version, timeout, s, jobs}, folder: folder, script: filepath.Join(folder.Path, "attach.py")}
	g.gdbinit, err = extension.Unpack(folder.Path)
	if err == nil {
		err = os.WriteFile(g.script, attachScript, 0o644)
	}
	if err != nil {
		g.Close()
		return nil, fmt.Errorf("gdb's extension can't be unpacked into %s, since %w: name another temporary folder with TMPDIR", folder.Path, err)
	}
	return g, nil
}

// Folder is one for temporary files, which is there until [GDB.Close].
func (g *GDB) Folder() string { return g.folder.Path }

// Init is the path of the file that a gdb is to source for the extension.
func (g *GDB) Init() string { return g.gdbinit }

// Close removes what the gdbs have left.
func (g *GDB) Close() { g.folder.Remove() }
