package gdbrun

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Settings are where queues may be read from, as gdb's `set mpi-queues' has it.
type Settings struct {
	Choice read.Choice
	// DLL is the path of the vendor's DLL to use, empty to find it; SafePath are folders, with colons
	// between them, whose DLLs are trusted.
	DLL, SafePath string
	// DLLTimeout is how many seconds a DLL may take for one thing, 0 for ever.
	DLLTimeout int
}

// DLLTimeout is how many seconds a DLL may take if nobody says anything else.
const DLLTimeout = 10

// source is where a gdb's processes are read from.
func (s Settings) source(starters []bridge.Process) bridge.Source {
	out := bridge.Source{Choice: string(s.Choice), Timeout: s.DLLTimeout, Starters: starters}
	if s.DLL != "" {
		out.DLL = absolute(s.DLL)
	}
	for _, folder := range filepath.SplitList(s.SafePath) {
		// A part that names a variable that is not set must not become a folder below the working
		// directory, where anyone may write.
		if folder = expandHome(expandVariables(folder)); filepath.IsAbs(folder) {
			out.SafePath = append(out.SafePath, folder)
		}
	}
	return out
}

// absolute is a path that does not depend on the working directory, as far as that is known.
func absolute(path string) string {
	path = expandHome(path)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// expandHome puts the user's home folder in place of a tilde, which the shell leaves where it does
// not begin a word.
func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			return home + rest
		}
	}
	return path
}

// expandVariables puts in the variables of the environment that are set.
func expandVariables(path string) string {
	return os.Expand(path, func(name string) string {
		if value, ok := os.LookupEnv(name); ok {
			return value
		}
		return "$" + name
	})
}
