package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// of makes processes another user's, or of a process namespace.
func of(change func(p *madeUp), processes ...madeUp) []madeUp {
	out := slices.Clone(processes)
	for i := range out {
		change(&out[i])
	}
	return out
}

// A launcher lists whatever its owner wants it to.
func TestTableOfAnotherUser(t *testing.T) {
	table := []entry{{"here", "/bin/sleep", 31}, {"here", "/prog", 32}}
	for name, c := range map[string]struct {
		launcher, first, second int // who they belong to
		asked                   int
		want                    string
		refused                 []int32
	}{
		"one user":            {1000, 1000, 1000, 20, "mpirun 20 of 2: 0=31 1=32", nil},
		"root's launcher":     {0, 1000, 1000, 20, "mpirun 20 of 2: 0=31 1=32", nil},
		"root's rank":         {1000, 0, 1000, 20, "mpirun 20 of 2: 0=31 1=32", []int32{0}},
		"another user's":      {1000, 1001, 1000, 20, "mpirun 20 of 2: 0=31 1=32", []int32{0}},
		"all others'":         {1000, 0, 1001, 20, "mpirun 20 of 2: 0=31 1=32", []int32{0, 1}},
		"asked for by number": {1000, 1000, 1001, 31, "mpirun 20 of 2: 0=31 1=32 self 0", []int32{1}},
	} {
		s := machine(t,
			madeUp{pid: 20, parent: 1, name: "mpirun", table: table, uid: c.launcher},
			madeUp{pid: 31, parent: 20, name: "sleep", program: "/bin/sleep", uid: c.first},
			madeUp{pid: 32, parent: 20, name: "prog", program: "/prog", isMPI: true, uid: c.second})
		j, err := s.find(c.asked)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var refused []int32
		for _, r := range j.Ranks {
			if r.Obstacle != "" {
				refused = append(refused, r.Number.Value)
				if want := "process " + strconv.Itoa(r.PID) + " ("; !strings.HasPrefix(r.Obstacle, want) || !strings.Contains(r.Obstacle, "the launcher mpirun (process 20) says so") {
					t.Errorf("%s: %s", name, r.Obstacle)
				}
			}
		}
		if got := shape(j); got != c.want || !slices.Equal(refused, c.refused) {
			t.Errorf("%s: %s, of which %v refused\nnot %s, %v", name, got, refused, c.want, c.refused)
		}
	}
	// A victim is no rank because a stranger's launcher lists it.
	s := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun", table: table, uid: 1000},
		madeUp{pid: 31, parent: 20, name: "sleep", program: "/bin/sleep", uid: 0}, madeUp{pid: 32, parent: 20, name: "prog"})
	if j, err := s.find(31); err == nil {
		t.Errorf("%s", shape(j))
	}
}

// A program that is setuid is nobody's rank but root's.
func TestMixedOwner(t *testing.T) {
	s := machine(t, madeUp{pid: 20, parent: 1, name: "mpirun", uid: 1000}, madeUp{pid: 31, parent: 20, name: "su", uid: 1000})
	text := "Name:\tsu\nUid:\t1000\t0\t0\t0\nNSpid:\t31\n"
	if err := os.WriteFile(filepath.Join(string(s.proc), "31", "status"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if s.speaksFor(s.processes[20], s.processes[31]) || !s.speaksFor(s.processes[1], s.processes[31]) {
		t.Error("whose a setuid program is can't be told")
	}
}

// Anybody can give himself the environment of a rank.
func TestSeatOfAnotherUser(t *testing.T) {
	s := machine(t,
		madeUp{pid: 20, parent: 1, name: "prterun", uid: 1000},
		madeUp{pid: 31, parent: 20, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true, uid: 1000},
		madeUp{pid: 32, parent: 20, name: "prog", env: pmixEnv("n@1", "1"), isMPI: true, uid: 1000},
		madeUp{pid: 40, parent: 1, name: "evil", env: pmixEnv("n@1", "1"), isMPI: true, uid: 1001},
		madeUp{pid: 41, parent: 1, name: "evil", env: pmixEnv("n@1", "2"), isMPI: true, uid: 1001},
		madeUp{pid: 42, parent: 31, name: "ping", env: pmixEnv("n@1", "0"), isMPI: true, uid: 0})
	for pid, want := range map[int]string{
		20: "prterun 20 of 2: 0=31 1=32",
		32: "prterun 20 of 2: 0=31 1=32 self 1",
		40: " 0 of 2: 1=40 2=41 self 1",
	} {
		j, err := s.find(pid)
		if err != nil {
			t.Errorf("%d: %v", pid, err)
			continue
		}
		if got := shape(j); got != want {
			t.Errorf("%d: %s, not %s", pid, got, want)
		}
		if claims := []int{40, 41}; pid < 40 && !slices.Equal(j.Claims, claims) {
			t.Errorf("%d: %v say that they are of the job", pid, j.Claims)
		}
	}
}

// In a container processes have other numbers, which are those of its launcher's table.
func TestTableInAContainer(t *testing.T) {
	container := func(name string, first int) []madeUp {
		ids := func(id int) string { return strconv.Itoa(first+id) + " " + strconv.Itoa(id) }
		return of(func(p *madeUp) { p.namespace = name },
			madeUp{pid: first + 1, parent: 1, name: "sh", ids: ids(1)},
			madeUp{pid: first + 2, parent: first + 1, name: "mpirun", ids: ids(2), table: []entry{{"here", "/prog", 3}, {"here", "/prog", 4}}},
			madeUp{pid: first + 3, parent: first + 2, name: "prog", program: "/prog", isMPI: true, ids: ids(3)},
			madeUp{pid: first + 4, parent: first + 2, name: "prog", program: "/prog", isMPI: true, ids: ids(4)})
	}
	others := []madeUp{{pid: 3, parent: 1, name: "kthreadd", program: "/prog"}, {pid: 4, parent: 1, name: "prog", program: "/prog"}}
	s := machine(t, slices.Concat(others, container("a", 100), container("b", 200))...)
	for pid, want := range map[int]string{
		102: "mpirun 102 of 2: 0=103 1=104",
		202: "mpirun 202 of 2: 0=203 1=204",
		204: "mpirun 202 of 2: 0=203 1=204 self 1",
	} {
		j, err := s.find(pid)
		if err != nil {
			t.Errorf("%d: %v", pid, err)
		} else if got := shape(j); got != want {
			t.Errorf("%d: %s, not %s", pid, got, want)
		}
	}
	// A rank in a container of its own has the launcher's numbers too.
	nested := container("a", 100)
	nested[3].namespace, nested[3].ids = "c", "104 4 1"
	j, err := machine(t, nested...).find(102)
	if want := "mpirun 102 of 2: 0=103 1=104"; err != nil || shape(j) != want {
		t.Errorf("%v, %v, not %s", j, err, want)
	}
	// What is not to be seen has not exited: its number is another's here.
	j, err = machine(t, slices.Concat(others, container("a", 100)[:3])...).find(102)
	if err != nil || j.Ranks[1].Exited || !strings.Contains(j.Ranks[1].Obstacle, "rank 1 is process 4 in the process namespace of mpirun (process 102)") {
		t.Errorf("%+v, %v", j, err)
	}
}

// Names of jobs are made of a host's name and a process id: two jobs can share one.
func TestJobsOfOneName(t *testing.T) {
	job := func(first int) []madeUp {
		return []madeUp{
			{pid: first, parent: 1, name: "prterun"},
			{pid: first + 1, parent: first, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true},
			{pid: first + 2, parent: first, name: "prog", env: pmixEnv("n@1", "1"), isMPI: true}}
	}
	contained := of(func(p *madeUp) { p.namespace = "c" }, job(200)...)
	for name, processes := range map[string][]madeUp{
		"two launchers":  slices.Concat(job(100), job(200)),
		"two containers": slices.Concat(job(100), contained),
		// Rank 0 has left a process behind, which is no launcher's.
		"with a stray": append(slices.Concat(job(100), job(200)), madeUp{pid: 300, parent: 1, name: "stray", env: pmixEnv("n@1", "0")}),
	} {
		s := machine(t, processes...)
		for pid, want := range map[int]string{
			100: "prterun 100 of 2: 0=101 1=102",
			102: "prterun 100 of 2: 0=101 1=102 self 1",
			200: "prterun 200 of 2: 0=201 1=202",
			201: "prterun 200 of 2: 0=201 1=202 self 0",
		} {
			j, err := s.find(pid)
			if err != nil {
				t.Errorf("%s, %d: %v", name, pid, err)
			} else if got := shape(j); got != want {
				t.Errorf("%s, %d: %s, not %s", name, pid, got, want)
			}
		}
	}
	// Several daemons of one job, on a machine that plays several, stay one job.
	s := machine(t, madeUp{pid: 10, parent: 1, name: "prted"}, madeUp{pid: 11, parent: 1, name: "prted"},
		madeUp{pid: 21, parent: 10, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true},
		madeUp{pid: 22, parent: 11, name: "prog", env: pmixEnv("n@1", "1"), isMPI: true})
	if j, err := s.find(22); err != nil || shape(j) != "prted 11 of 2: 0=21 1=22 self 1" {
		t.Errorf("%v, %v", j, err)
	}
	// Where nothing tells two jobs apart, no process is shown in place of another.
	s = machine(t, madeUp{pid: 21, parent: 1, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true},
		madeUp{pid: 22, parent: 1, name: "prog", env: pmixEnv("n@1", "0"), isMPI: true})
	for _, pid := range []int{21, 22} {
		if j, err := s.find(pid); err == nil && j.Self.PID != pid {
			t.Errorf("process %d is shown for %d", j.Self.PID, pid)
		}
	}
}

// A process can have files that never answer, and so can many.
func TestFilesThatDoNotAnswer(t *testing.T) {
	s := machine(t, chain()...)
	var opened atomic.Int32
	never := make(chan struct{})
	defer close(never)
	s.patience = time.Millisecond
	s.open = func(int) (memory, error) {
		opened.Add(1)
		<-never
		return nil, os.ErrNotExist
	}
	if _, err := s.find(59); err == nil || !strings.Contains(err.Error(), errSilent.Error()) {
		t.Error(err)
	}
	if n := opened.Load(); n > mostSilent {
		t.Errorf("%d processes were waited for", n)
	}
}
