package procfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// Whatever stands in a process's files ends in values or in an error, at the cost of what a small file may
// take. The input is the file's name, by its number, and its text.
func FuzzFiles(f *testing.F) {
	names := []string{"stat", "status", "maps", "environ", "cmdline", "comm"}
	for i, text := range []string{
		"7 (a) b" + fields + "\n", "Name:\ta: b\nPPid:\t5\nTracerPid:\t9\nUid:\t1\t2\t3\t4\nNSpid:\t7\t1\n",
		"7f00-7fff r-xp 00001000 fe:00 42                         /a b\\012c\n8000-9000 rw-p 00000000 00:00 0 \n",
		"A=1\x00B=\x00C\x00A=2\x00=9\x00D=4", "mpirun\x00-n\x002\x00", "mpirun\n",
	} {
		f.Add(byte(i), []byte(text))
	}
	at := FS(f.TempDir())
	if err := os.MkdirAll(at.Path(7), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		if len(text) > 8<<10 {
			t.Skip("no small file")
		}
		name := names[int(which)%len(names)]
		if err := os.WriteFile(filepath.Join(at.Path(7), name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		cost.AtMost(t, 4<<20, func() {
			switch name {
			case "stat":
				if s, err := at.Stat(7); err != nil && s != (Stat{}) {
					t.Errorf("%+v beside %v", s, err)
				}
			case "status":
				s, err := at.Status(7)
				if err != nil || s.Parent < -1 || s.Tracer < -1 {
					t.Errorf("%+v, %v", s, err)
				}
			case "maps":
				for m, err := range at.Mappings(7) {
					if err != nil && m != (Mapping{}) {
						t.Errorf("%+v beside %v", m, err)
					}
				}
			case "environ":
				values, err := at.Environment(7, []string{"A", "B"})
				if err != nil || len(values) > 2 || len(values["A"])+len(values["B"]) > len(text) {
					t.Errorf("%v, %v", values, err)
				}
			case "cmdline":
				if words, err := at.CommandLine(7); err != nil || len(words) > len(text) {
					t.Errorf("%d words, %v", len(words), err)
				}
			case "comm":
				if _, err := at.Name(7); err != nil {
					t.Error(err)
				}
			}
		})
	})
}
