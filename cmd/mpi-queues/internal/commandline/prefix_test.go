package commandline

import (
	"os"
	"path/filepath"
	"testing"
)

// The program is started by its own path, by which other hosts may have it, unless that needs quotes.
func TestUnquoted(t *testing.T) {
	folder := t.TempDir()
	for program, want := range map[string]string{
		"/home/ann/go/bin/mpi-queues": "/home/ann/go/bin/mpi-queues",
		"/home/ann b/mpi-queues":      filepath.Join(folder, linkName),
	} {
		got, err := Unquoted(program, folder)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", program, got, err)
		}
		if target, err := os.Readlink(got); want != program && (err != nil || target != program) {
			t.Errorf("%s is a link to %s, %v", got, target, err)
		}
	}
}
