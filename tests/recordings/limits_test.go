package recordings

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// The README's section "Limits" says what the tests of this file check.

// TestMachines checks that the recordings are of the machines that the README names and of no others, and were made as it says:
// processes on x86-64 and i386, core files of PowerPC, and of aarch64 what an emulator served to gdb.
func TestMachines(t *testing.T) {
	got := map[string]bool{}
	for _, folder := range folders(t) {
		for _, p := range open(t, files(t, folder)[0]).Processes { // the others of a folder were made in the same way
			got[p.Info().Architecture+", "+p.Info().Kind] = true
		}
	}
	want := []string{"aarch64, remote", "i386, live", "i386:x86-64, live", "powerpc:common, core"}
	if machines := slices.Sorted(maps.Keys(got)); !slices.Equal(machines, want) {
		t.Errorf("there are recordings of %q, want %q", machines, want)
	}
}

// TestNoInfiniBand checks that no recording is of messages over InfiniBand. The case of one would say so in its transport.
func TestNoInfiniBand(t *testing.T) {
	for _, folder := range folders(t) {
		transport := strings.ToLower(load(t, folder).Transport)
		for _, name := range []string{"infiniband", "verbs", "mlx"} {
			if strings.Contains(transport, name) {
				t.Errorf("%s: the messages are over %s", folder, transport)
			}
		}
	}
}

// strippedMPICHs returns the folders of stripped MPICHs, and their cases.
func strippedMPICHs(t *testing.T) map[string]recorded {
	t.Helper()
	out := map[string]recorded{}
	for _, folder := range folders(t) {
		if c := load(t, folder); c.MPI == "MPICH" && c.Stripped {
			out[folder] = c
		}
	}
	return out
}

// TestStrippedMPICHShowsLess checks that of the operations of the same programs fewer values are known with each stripped MPICH
// than with a stripped Open MPI.
func TestStrippedMPICHShowsLess(t *testing.T) {
	known := func(folder, name string) (n int) {
		c := counts{}
		c.add(written(t, replay(t, open(t, filepath.Join(folder, name+".mpiq")))))
		for _, queue := range expect.Queues {
			for _, of := range orNone(c[queue]).Known {
				n += of
			}
		}
		return n
	}
	for _, name := range []string{"queues-rank-0", "requests-rank-0"} {
		most := known("openmpi-4.1.4", name)
		for folder := range strippedMPICHs(t) {
			if n := known(folder, name); n >= most {
				t.Errorf("%s: %d values of %s are known, and %d with Open MPI", folder, n, name, most)
			}
		}
	}
}

// TestDestinationsOverUCX checks that where a send goes is unknown in a process of a stripped MPICH of which UCX alone is read, as
// from 4.2 on, and that it is known where its receiver is read too: "send-rank-0" and "send-rank-1" are of one job.
func TestDestinationsOverUCX(t *testing.T) {
	sends := func(p *mqs.Process) (out []mqs.PendingOperation) {
		for _, c := range p.Communicators {
			if q := c.Queue[mqs.PendingSends]; q != nil {
				out = append(out, q.Operations...)
			}
		}
		return out
	}
	releases := map[string]int{}
	for folder, c := range strippedMPICHs(t) {
		if !strings.HasPrefix(c.LayoutName, "UCX ") {
			continue
		}
		for _, file := range files(t, folder) {
			for _, op := range sends(replay(t, open(t, file)).Processes[0]) {
				releases[c.Release]++
				if op.DesiredLocalRank.Known {
					t.Errorf("%s: a send with tag %d goes to rank %d", file, op.DesiredTag.Value, op.DesiredLocalRank.Value)
				}
			}
		}
	}
	for _, release := range []string{"4.2.1", "5.0.2"} {
		if releases[release] == 0 {
			t.Errorf("there are no sends of %s", release)
		}
	}

	var job []*mqs.Process
	for _, rank := range []string{"0", "1"} {
		job = append(job, replay(t, open(t, filepath.Join("mpich-4.2.1-stock", "send-rank-"+rank+".mpiq"))).Processes...)
	}
	got := sends(read.Join(job).Processes[0])
	const inferred = "inferred: rank 1 has it as an unexpected message"
	if len(got) != 1 || got[0].DesiredLocalRank != mqs.Known(int32(1)) || !slices.Contains(got[0].ExtraText, inferred) {
		t.Errorf("beside rank 1, rank 0 has the sends %+v", got)
	}
}
