package launch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// fileOptions are those that name a file of hosts: of mpirun and prterun (Open MPI 4.1 to 6.0, PRRTE), and of mpiexec (MPICH
// 4.0 to 5.0). fileSettings are the launchers' parameters, and fileVariables what their environments have of them.
var (
	fileOptions   = []string{"--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile", "-default-hostfile", "-f"}
	fileSettings  = []string{"orte_default_hostfile", "prte_default_hostfile"}
	fileVariables = []string{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE"}
)

// maxHostFile bounds what is read of a file, in bytes.
const maxHostFile = 1 << 20

// hostFiles are the files of hosts that a launcher was told of: by its words, or else by its environment.
func hostFiles(proc procfs.FS, launcher int, words []string) []string {
	files := append(valuesOf(words, fileOptions), valuesOf(words, fileSettings)...)
	for _, name := range fileVariables {
		if file := environmentOf(proc, launcher, name); file != "" && len(files) == 0 {
			files = []string{file}
		}
	}
	return files
}

// hostsOfFile adds the hosts of a file, which begin its lines. What follows "#" says nothing. The file is the launcher's: in
// its working folder, or below its root.
func hostsOfFile(proc procfs.FS, launcher int, file string, add func(entry string)) {
	from := "cwd"
	if filepath.IsAbs(file) {
		from = "root"
	}
	// A pipe would have nobody who writes it.
	f, err := os.OpenFile(proc.Path(launcher, from, file), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if s, err := f.Stat(); err != nil || !s.Mode().IsRegular() {
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, maxHostFile))
	if err != nil {
		return
	}
	for line := range bytes.Lines(text) {
		said, _, _ := strings.Cut(string(line), "#")
		if words := strings.Fields(said); len(words) > 0 {
			add(words[0])
		}
	}
}
