//go:build live

package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
)

// isFree says whether nothing debugs a process or holds it.
func isFree(pid int) bool {
	p, err := tracee.Read(pid)
	return err == nil && p.Tracer == 0 && p.State != 'T' && p.State != 't' && p.State != 'Z'
}

// TestKilledAtRandom ends report and dump by signals at random moments, alone and with all that has their process group: no
// rank stays stopped, none dies, and but for SIGKILL no file is left.
func TestKilledAtRandom(t *testing.T) {
	times := 8
	if os.Getenv("MPI_QUEUES_TEST_WHOLE") != "" {
		times = 60
	}
	j := deadlock(t)
	launcher := strconv.Itoa(j.Launcher.Process.Pid)
	commands := [][]string{{"report", launcher}, append([]string{"dump", "--json"}, arguments(j)...)}
	var whole time.Duration // of a run, about: no verdict depends on it
	for _, args := range commands {
		begin := time.Now()
		s := command(t, args...)
		_ = s.Run()
		whole = max(whole, time.Since(begin))
	}
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL}
	cut := 0
	for seed := range times {
		luck := rand.New(rand.NewPCG(uint64(seed), 1))
		sig, isGroup := signals[seed%len(signals)], luck.IntN(2) == 0
		s := command(t, commands[luck.IntN(len(commands))]...)
		s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(luck.Int64N(int64(whole))))
		pid := s.Process.Pid
		if isGroup {
			pid = -pid
		}
		_ = syscall.Kill(pid, sig)
		_ = s.Wait()
		if s.out.Len() == 0 {
			cut++
		}
		for _, pid := range j.PIDs {
			until(t, "process "+strconv.Itoa(pid)+" to run on after "+sig.String()+" with seed "+strconv.Itoa(seed), func() bool { return isFree(pid) })
		}
		if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 && sig != syscall.SIGKILL {
			t.Errorf("seed %d, %s: %v, %v is left behind", seed, sig, err, left)
		}
	}
	if cut == 0 {
		t.Error("no run was cut short")
	}
	t.Logf("%d of %d runs were cut short", cut, times)
	s := command(t, "report", launcher)
	_ = s.Run()
	says(t, &s.out, "Deadlock")
}
