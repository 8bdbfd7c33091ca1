//go:build matrix

package mpich

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// The providers of libfabric's that need no network.
const (
	provider = "tcp;ofi_rxm"
	sockets  = "sockets"
)

// making guards the variants that tests share.
var making sync.Mutex

// over is a build all of whose messages go through a provider of libfabric's. Its programs are built once.
func (v *variant) over(t *testing.T, provider string) *variant {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	if known := v.through[provider]; known != nil {
		return known
	}
	mpi := v.work.MPI
	// Without the last setting, libfabric 1.13 takes messages for other senders' (rxm_fake_rx_hdr in
	// prov/rxm/src/rxm_cq.c), and three ranks hang in MPI_Init.
	mpi.Launcher = slices.Concat(mpi.Launcher, mpi.Setting("MPIR_CVAR_NOLOCAL", "1"), mpi.Setting("FI_PROVIDER", provider),
		mpi.Setting("FI_OFI_RXM_ENABLE_DYN_RBUF", "0"))
	mpi.Kind.Transport = "libfabric"
	if provider == sockets { // it takes messages of any length before they are received: see tests/programs/expect.h
		mpi.Launcher, mpi.Kind.InPieces = slices.Concat(mpi.Launcher, mpi.Setting("EXPECT_TAKEN", "yes")), true
	}
	out := &variant{MPICHBuild: v.MPICHBuild, prefix: v.prefix, provider: provider}
	var err error
	if out.work, err = v.work.With("over-"+strings.Map(letter, provider), mpi); err != nil {
		t.Fatal(err)
	}
	if v.through == nil {
		v.through = map[string]*variant{}
	}
	v.through[provider] = out
	return out
}

// stripped is the build with its library stripped, libfabric in it included.
func (v *variant) stripped(t *testing.T) *variant {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	if v.bare != nil {
		return v.bare
	}
	const library = "libmpi.so.12"
	folder := filepath.Join(v.work.Folder, "stripped-library")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("strip", "--strip-all", "-o", filepath.Join(folder, library), filepath.Join(v.prefix, "lib", library)).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	mpi := v.work.MPI
	mpi.Launcher = slices.Concat(mpi.Launcher, mpi.Setting("LD_LIBRARY_PATH", folder))
	mpi.Kind.Stripped, mpi.Kind.Found = true, true
	out := *v
	out.Name, out.isStripped, out.through = v.Name+" stripped", true, nil
	var err error
	if out.work, err = v.work.With("stripped", mpi); err != nil {
		t.Fatal(err)
	}
	v.bare = &out
	return v.bare
}

// letter is what a folder's name may have of a provider's.
func letter(c rune) rune {
	if c >= 'a' && c <= 'z' {
		return c
	}
	return '-'
}

// throughOFI are the builds that leave messages between nodes to libfabric.
func throughOFI() []*variant {
	return slices.DeleteFunc(slices.Clone(variants), func(v *variant) bool { return v.Device != "ch4:ofi" })
}

// overLibfabric are the builds all of whose messages libfabric has, and the optimised one stripped.
func overLibfabric(t *testing.T) []*variant {
	t.Helper()
	var out []*variant
	for _, v := range throughOFI() {
		v := v.over(t, provider)
		if out = append(out, v); !v.DebuggerSupport {
			out = append(out, v.stripped(t))
		}
	}
	return out
}

// Of messages that libfabric has, each program's account must be what is shown of it, as far as they are kept.
func TestOverLibfabric(t *testing.T) {
	t.Parallel()
	all := overLibfabric(t)
	for _, v := range throughOFI() {
		if v.DebuggerSupport { // over sockets, the other keeps what this one does
			all = append(all, v.over(t, sockets))
		}
	}
	for _, v := range all {
		live.EachProgram(t, v.row(t, v.Name+", "+v.provider, func(p live.Program) bool {
			whole := p.Is("groups", "blocked recv", "blocked ssend", "blocked barrier", "many 100 wild", "many 100 specific") ||
				p.Is("blocked send") && v.provider != sockets // where it does not wait
			return p.Is("queues", "requests") || whole && sample.Whole()
		}))
	}
}

// Messages inside a node are in ch4's own lists, with a stripped library too.
func TestStrippedOnOneNode(t *testing.T) {
	t.Parallel()
	for _, v := range throughOFI() {
		if v.DebuggerSupport {
			continue // that is what the stripped one was built without
		}
		live.EachProgram(t, v.stripped(t).row(t, "", func(p live.Program) bool { return p.Is("queues", "requests") }))
	}
}

// TestDeadlocksOverLibfabric checks that over libfabric modes of the programs that hang are reported as what they are, and none
// that makes progress is called deadlocked.
func TestDeadlocksOverLibfabric(t *testing.T) {
	t.Parallel()
	for _, v := range overLibfabric(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			row := v.modes(t)
			row.InTurn = func(i int) bool { return v.isStripped || v.inTurn(i) }
			expected := row.Expected
			row.Expected = func(m *expect.Mode) *expect.Mode { // the programs that hang over libfabric as they do elsewhere
				if m.Program == "deadlock" || m.Program == "collective" || m.Program == "moving" {
					return expected(m)
				}
				return nil
			}
			live.EachHang(t, row)
			live.EachMoving(t, row, 3, 1)
		})
	}
}
