package commandline

import (
	"os"
	"path/filepath"
	"strings"
)

// linkName is the name of a link to this program.
const linkName = "mpi-queues"

// Unquoted returns a path of a program that needs no quotes in a command line and in launchers'
// settings: its own, by which other hosts may have it too, or else that of a link in a folder.
func Unquoted(program, folder string) (string, error) {
	const plain = "/._-+@%=:,abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if strings.Trim(program, plain) == "" {
		return program, nil
	}
	link := filepath.Join(folder, linkName)
	return link, os.Symlink(program, link)
}

// Settings are variables by which Open MPI's mpirun and PRRTE's put a prefix before their programs
// themselves (orte_fork_agent, and PRRTE's odls_base_exec_agent).
func Settings(prefix string) []string {
	return []string{"OMPI_MCA_orte_fork_agent=" + prefix, "PRTE_MCA_odls_base_exec_agent=" + prefix}
}
