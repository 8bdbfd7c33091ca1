package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// recorded is what a folder's recordings are of: its case.json.
type recorded struct {
	expect.Library
	// Layout and LayoutName are where the library's layouts come from, as the document says.
	Layout     string `json:"layout"`
	LayoutName string `json:"layout_name"`
	// Architecture is the debugger's name for it.
	Architecture string `json:"architecture"`
	// PointerSize is the width of a pointer in bytes.
	PointerSize int  `json:"pointer_size"`
	BigEndian   bool `json:"big_endian"`
}

// load reads the case of a folder. Every key has to be there, and no other.
func load(t *testing.T, folder string) recorded {
	t.Helper()
	path := filepath.Join(folder, "case.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("what is recorded in %s is not said: %v", folder, err)
	}
	var c recorded
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if whole := indented(t, c); !bytes.Equal(text, whole) {
		t.Fatalf("%s is not in this form:\n%s", path, whole)
	}
	return c
}

// indented is a value as JSON, for people to read.
func indented(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// check holds the case against what a process says of itself. An MPICH without types need not say of
// which release it is.
func (c recorded) check(t *testing.T, process expect.Object) {
	t.Helper()
	version := c.Release
	if c.MPI == "MPICH" {
		version += " " + c.Device
	}
	want := expect.Object{"mpi": c.MPI, "mpi_version": version, "layout": c.Layout, "layout_name": nil}
	if c.LayoutName != "" {
		want["layout_name"] = c.LayoutName
	}
	if c.MPI == "MPICH" && c.Layout == "table" && process["mpi_version"] == nil {
		want["mpi_version"] = nil
	}
	for _, difference := range expect.Values(want, process, "mpi", "mpi_version", "layout", "layout_name") {
		t.Errorf("its case is another one: %s", difference)
	}
}

// checkMachine holds the case against what the debugger said of a process.
func (c recorded) checkMachine(t *testing.T, info inferior.Info) {
	t.Helper()
	if info.Architecture != c.Architecture || info.PointerSize != c.PointerSize || info.BigEndian != c.BigEndian {
		t.Errorf("its case is another one: %s has pointers of %d bytes, big-endian is %t", info.Architecture, info.PointerSize, info.BigEndian)
	}
}

// TestArchitectures checks that there are recordings of processes with narrower pointers and with the other order of
// bytes, which TestReplays compares with their accounts as it does all, and which are what their cases say: nothing
// assumes the architecture of the machine that reads. Those of i386 were live; those of powerpc are core files that
// qemu-ppc wrote, read by gdb-multiarch.
func TestArchitectures(t *testing.T) {
	var got []string
	for _, folder := range folders(t) {
		c := load(t, folder)
		got = append(got, fmt.Sprintf("%s, %d bytes, big-endian %t", c.MPI, c.PointerSize, c.BigEndian))
	}
	for _, want := range []string{"Open MPI, 4 bytes, big-endian false", "MPICH, 4 bytes, big-endian false", "MPICH, 4 bytes, big-endian true"} {
		if !slices.Contains(got, want) {
			t.Errorf("nothing is recorded of %s", want)
		}
	}
}
