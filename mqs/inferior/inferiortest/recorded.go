package inferiortest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Folder is the path of tests/recordings, found from the folder of whichever package is tested.
func Folder(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, "tests", "recordings")
		}
		up := filepath.Dir(at)
		if up == at {
			t.Fatal("no go.mod in the folder of the test or above it")
		}
		at = up
	}
}

// File is the contents of a recording, which is named by its folder and its name without ".mpiq":
// "openmpi-4.1.4/queues-rank-0".
func File(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(Folder(t), filepath.FromSlash(name)+".mpiq"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Recorded is the only process of a recording, named as [File] has it.
func Recorded(t testing.TB, name string) inferior.Inferior {
	t.Helper()
	file := File(t, name)
	processes, err := inferior.ReadRecording(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(processes) != 1 {
		t.Fatalf("%s: %d processes", name, len(processes))
	}
	return processes[0]
}
