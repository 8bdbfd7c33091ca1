package launch

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Whatever a launcher's table is, it ends in entries that can be, or in an error. The input is its width and order of
// bytes, the words of its entries and how many it says that there are, and what the words of them point at.
func FuzzTable(f *testing.F) {
	sound := newFake(8, false)
	sound.putTable([]entry{{"host", "/program", 17}, {"host", "/program", 18}})
	memory, err := sound.Process.ReadMemory(f.Context(), []inferior.Range{{Addr: tableAt, Len: 48}, {Addr: textsAt, Len: 40}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(0), int32(2), memory[0], memory[1])
	f.Add(byte(1), int32(1)<<20, memory[0], memory[1])
	f.Add(byte(3), int32(-1), memory[0][:12], []byte(strings.Repeat("h", maxText)))
	f.Fuzz(func(t *testing.T, shape byte, size int32, table, texts []byte) {
		if len(table)+len(texts) > 16<<10 {
			t.Skip("no small one")
		}
		launcher := newFake([]int{8, 4}[shape&1], shape&2 != 0)
		launcher.variable(sizeSymbol, sizeAt)
		launcher.variable(tableSymbol, pointerAt)
		launcher.Put(sizeAt, launcher.Order().AppendUint32(nil, uint32(size)))
		launcher.Put(pointerAt, launcher.Pointer(tableAt))
		launcher.Put(tableAt, table)
		launcher.Put(textsAt, texts)
		var entries []entry
		cost.AtMost(t, cost.Most, func() {
			var err error
			if entries, err = readTable(launcher, new(atomic.Int64)); err != nil && entries != nil {
				t.Errorf("%d entries beside %v", len(entries), err)
			}
		})
		if len(entries) > 0 && len(entries) != int(size) {
			t.Errorf("%d entries, and it says %d", len(entries), size)
		}
		for _, e := range entries {
			if e.pid <= 0 || e.host != printable.Line(e.host) || e.executable != printable.Line(e.executable) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// Whatever processes have in their environments, jobs and their ranks are found, each rank once, or there is a sentence.
// The input is the environments of a launcher's grandchildren, a line for each.
func FuzzEnvironments(f *testing.F) {
	for _, of := range [][]madeUp{prterun, hydra, slurmNode} {
		var lines []string
		for _, p := range of {
			lines = append(lines, p.env)
		}
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, lines string) {
		environments := strings.Split(strings.ReplaceAll(lines, "\x00", " "), "\n")
		if len(environments) > 8 || len(lines) > 2<<10 {
			t.Skip("too many")
		}
		processes := []madeUp{{pid: 20, parent: 1, name: "mpirun"}}
		for i, env := range environments {
			processes = append(processes, madeUp{pid: 30 + i, parent: 20 + 5*(i%2), name: "prog", program: "/prog", isMPI: true, env: env})
		}
		processes = append(processes, madeUp{pid: 25, parent: 20, name: "daemon"})
		s := machine(t, processes...)
		cost.AtMost(t, cost.Most, func() {
			for _, j := range s.jobs(0) {
				checkJob(t, j)
			}
			for _, p := range processes {
				j, err := s.find(p.pid)
				if err != nil {
					if err.Error() != printable.Text(err.Error()) {
						t.Errorf("%q", err)
					}
					continue
				}
				checkJob(t, j)
			}
		})
	})
}

// checkJob fails the test if a job has a rank or a process twice, or a rank beyond its size.
func checkJob(t *testing.T, j *Job) {
	seen := map[string]bool{}
	for _, r := range j.Ranks {
		names := []string{fmt.Sprint("process ", r.Host, r.PID)}
		if r.Number.Known {
			names = append(names, fmt.Sprint("rank ", r.Number.Value))
			if r.Number.Value < 0 || j.Size.Known && r.Number.Value >= j.Size.Value {
				t.Errorf("rank %d of %d", r.Number.Value, j.Size.Value)
			}
		}
		for _, name := range names {
			if seen[name] {
				t.Errorf("%s twice", name)
			}
			seen[name] = true
		}
	}
}
