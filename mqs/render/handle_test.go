package render

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func known[T any](v T) mqs.Maybe[T] { return mqs.Known(v) }

// halo is a communicator.
func halo() *mqs.Queues {
	return &mqs.Queues{Communicator: mqs.Communicator{Name: known("halo exchange"), LocalRank: known[int32](2), Size: known[int32](8),
		Inter: known(false), Topology: mqs.NoTopology, Context: "3", Group: mqs.WholeGroup(8)}}
}

func TestSummaries(t *testing.T) {
	receive := &mqs.PendingOperation{Kind: "irecv", Status: mqs.Pending, DesiredLocalRank: known[int32](mqs.AnyRank),
		TagWild: known(true), DesiredLength: known[int64](16)}
	revoked := halo()
	revoked.Revoked = known(true)
	broken := halo()
	broken.Revoked, broken.Failed = known(true), []int32{5}
	for want, h := range map[string]mqs.Handle{
		`MPI_COMM "halo exchange" (rank 2 of 8)`:          {Kind: mqs.CommHandle, State: mqs.LiveHandle, Name: known("halo exchange"), Communicator: &halo().Communicator},
		`MPI_COMM "halo exchange" (rank 2 of 8, revoked)`: {Kind: mqs.CommHandle, State: mqs.LiveHandle, Name: known("halo exchange"), Communicator: &revoked.Communicator},
		"MPI_COMM_WORLD (rank 2 of 8)":                    {Kind: mqs.CommHandle, State: mqs.PredefinedHandle, Name: known("MPI_COMM_WORLD"), Communicator: &halo().Communicator},
		"MPI_COMM_SELF":                                   {Kind: mqs.CommHandle, State: mqs.PredefinedHandle, Name: known("MPI_COMM_SELF"), Communicator: &mqs.Communicator{}},
		"MPI_COMM_NULL":                                   {Kind: mqs.CommHandle, State: mqs.NullHandle, Name: known("MPI_COMM_NULL")},
		"MPI_COMM 0x10 (freed)":                           {Kind: mqs.CommHandle, State: mqs.FreedHandle, Value: 16},
		"MPI_GROUP 0xffffffff (not valid)":                {Kind: mqs.GroupHandle, State: mqs.InvalidHandle, Value: 0xffff_ffff},
		"":                                                {Kind: mqs.CommHandle},
		"MPI_INT":                                         {Kind: mqs.DatatypeHandle, State: mqs.PredefinedHandle, Name: known("MPI_INT"), Datatype: &mqs.Datatype{Size: known[int64](4)}},
		"MPI_DATATYPE (vector 3 of 2 MPI_DOUBLE stride 100, 48 bytes)": {Kind: mqs.DatatypeHandle, State: mqs.LiveHandle, Name: known(""),
			Datatype: &mqs.Datatype{Size: known[int64](48), Construction: "vector 3 of 2 MPI_DOUBLE stride 100"}},
		"MPI_REQUEST (irecv from ANY, tag ANY, 16 bytes, pending, on halo exchange)": {Kind: mqs.RequestHandle, State: mqs.LiveHandle, Communicator: &halo().Communicator, Operation: receive},
		`MPI_COMM "halo exchange" (rank 2 of 8, revoked, rank 5 failed)`:             {Kind: mqs.CommHandle, State: mqs.LiveHandle, Name: known("halo exchange"), Communicator: &broken.Communicator},
		"MPI_REQUEST (generalized)": {Kind: mqs.RequestHandle, State: mqs.LiveHandle, Operation: &mqs.PendingOperation{Kind: "generalized"}},
		"MPI_INFO (1 key)":          {Kind: mqs.InfoHandle, State: mqs.LiveHandle, Info: []mqs.InfoEntry{{Key: "a", Value: "b"}}},
		"MPI_GROUP (rank 1 of 2)":   {Kind: mqs.GroupHandle, State: mqs.LiveHandle, Group: &mqs.ProcessGroup{LocalRank: known[int32](1), Size: known[int32](2)}},
		"MPI_SUM":                   {Kind: mqs.OpHandle, State: mqs.PredefinedHandle, Name: known("MPI_SUM"), Commutative: known(true)},
		"MPI_OP (not commutative)":  {Kind: mqs.OpHandle, State: mqs.LiveHandle, Commutative: known(false)},
		"MPI_STATUS (source 1, tag ?, 4 bytes)": {Kind: mqs.StatusHandle, State: mqs.LiveHandle,
			Status: &mqs.MessageStatus{Source: known[int32](1), Length: known[int64](4)}},
	} {
		if got := Summary(&h); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a program calls its objects commands no terminal.
func TestHandleIsHarmless(t *testing.T) {
	h := mqs.Handle{Kind: mqs.InfoHandle, State: mqs.LiveHandle, Name: known("\x1b[2J"), Info: []mqs.InfoEntry{{Key: "\x1b]0;x\a", Value: "\u202e"}},
		Datatype: &mqs.Datatype{Construction: "\x1b"}, Notes: []string{"\x1b"}, Communicator: &halo().Communicator}
	h.Communicator.Context = "\x1b"
	for _, kind := range mqs.HandleKinds {
		h.Kind = kind
		var b strings.Builder
		if err := Handle(&b, &h, Style{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\a\u202e") {
			t.Errorf("%s: %q", kind, b.String())
		}
	}
}

func TestHandleText(t *testing.T) {
	h := mqs.Handle{Kind: mqs.WinHandle, State: mqs.LiveHandle, Name: known("ghost cells"), FortranHandle: known[int32](3),
		Notes: []string{"something is doubtful"},
		Window: &mqs.Window{LocalRank: known[int32](0), Size: known[int32](4), Flavor: mqs.CreatedWindow, Base: known[inferior.Addr](0x1000),
			Length: known[int64](256), DisplacementUnit: known[int32](4), Epochs: []mqs.Epoch{
				{Kind: mqs.LockEpoch, Exclusive: known(true), Ranks: []int32{1}}, {Kind: mqs.StartEpoch, Ranks: []int32{0, 2, 3}}, {Kind: mqs.LockAllEpoch}}}}
	var b strings.Builder
	if err := Handle(&b, &h, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `MPI_WIN "ghost cells" (rank 0 of 4)
  local rank         0
  size               4
  flavor             create
  base               0x1000
  length             256 bytes
  displacement unit  4
  epoch              exclusive lock of 1; start to 0, 2-3; lock all
  Fortran handle     3
  Note: something is doubtful.
`
	if b.String() != want {
		t.Errorf("it is shown as\n%s", b.String())
	}
}
