package render

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// process has an object of each kind.
func process() *mqs.Process {
	grid := halo()
	grid.Name, grid.Topology = known("grid"), mqs.Cartesian
	grid.Dimensions = []mqs.Dimension{{Size: 4, Periodic: 1, Coordinate: 1}, {Size: 2}}
	grid.Queue[mqs.PendingSends] = &mqs.Queue{Total: 3}
	grid.Queue[mqs.PendingReceives] = &mqs.Queue{Total: 1, Incomplete: true}
	grid.Queue[mqs.UnexpectedMessages] = &mqs.Queue{Unavailable: "why"}
	bridge := halo()
	bridge.Name, bridge.Inter, bridge.RemoteGroup = known("bridge"), known(true), []mqs.Maybe[int32]{known[int32](9)}
	bridge.Handle, bridge.FortranHandle = known[inferior.Addr](0x55), known[int32](7)
	ghosts := halo()
	ghosts.Name, ghosts.Window = known("DUP"), known("ghost cells")
	return &mqs.Process{GlobalRank: known[int32](2), WorldSize: known[int32](8), Communicators: []*mqs.Queues{grid, bridge, ghosts},
		Windows: []mqs.Window{{Handle: 0x66, Name: known("ghost cells"), LocalRank: known[int32](2), Size: known[int32](8), Epochs: []mqs.Epoch{}}},
		Files:   []mqs.File{{Handle: 0x77, Name: known("restart.dat"), AccessMode: []string{"MPI_MODE_CREATE", "MPI_MODE_RDWR"}}},
		Notes:   []string{"a note"}}
}

func TestViews(t *testing.T) {
	s := &mqs.Snapshot{Processes: []*mqs.Process{process(), {Unavailable: "it is gone"}, {}}}
	for view, want := range map[View]string{
		Communicators: `Rank 2 of 8
  communicator          rank  size  kind                                        members    context  handle  Fortran  sends  receives   unexpected
  grid                  2     8     Cartesian 4 x 2, periodic in 0, at (1, 0)  0-7        3        ?       ?        3      1 or more  ?
  bridge                2     8     inter, remote size 1                       0-7 and 9  3        0x55    7        ?      ?          ?
  window "ghost cells"  2     8     intra                                      0-7        3        ?       ?        ?      ?          ?

Note: a note.

Rank ?
  it is gone.

Rank ?
  There are no communicators.
`,
		Windows: `Rank 2 of 8
  window       rank  size  flavor  base  bytes  unit  epoch  handle  Fortran
  ghost cells  2     8     ?       ?     ?      ?     none   0x66    ?

Note: a note.

Rank ?
  it is gone.

Rank ?
  Its windows are not known. ` + "`mpi-handle'" + ` may know one by its handle.
`,
		Files: `Rank 2 of 8
  file         rank  size  access mode                      handle  Fortran
  restart.dat  ?     ?     MPI_MODE_CREATE | MPI_MODE_RDWR  0x77    ?

Note: a note.

Rank ?
  it is gone.

Rank ?
  Its files are not known. ` + "`mpi-handle'" + ` may know one by its handle.
`,
	} {
		var b strings.Builder
		if err := view.Show(&b, s, Style{}); err != nil {
			t.Fatal(err)
		}
		if collapse(b.String()) != collapse(want) {
			t.Errorf("%s are shown as\n%s", view, b.String())
		}
	}
	if got := listState("files", false, 0); got != "  There are no files." {
		t.Error(got)
	}
}

// collapse makes one blank of several: how wide columns are is the table's matter.
func collapse(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

// A revoked communicator is said to be so wherever it is shown, and so are members that have failed.
func TestRevoked(t *testing.T) {
	empty, full := halo(), halo()
	for _, c := range []*mqs.Queues{empty, full} {
		c.Revoked, c.Failed = known(true), []int32{0, 2, 3, 4}
		c.Queue[mqs.PendingSends] = &mqs.Queue{}
	}
	full.Queue[mqs.PendingSends] = &mqs.Queue{Operations: []mqs.PendingOperation{{Kind: "isend"}}, Total: 1}
	s := &mqs.Snapshot{Processes: []*mqs.Process{{Communicators: []*mqs.Queues{empty, full}}}}
	for _, view := range []View{Queues, Communicators} {
		var b strings.Builder
		if err := view.Show(&b, s, Style{}); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), "revoked, ranks 0, 2-4 failed") != 2 {
			t.Errorf("%s are shown as\n%s", view, b.String())
		}
	}
}
