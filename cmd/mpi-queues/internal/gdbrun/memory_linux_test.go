package gdbrun

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// claiming starts a program whose file claims to have 2^25 sections, nearly all of it a hole.
func claiming(t *testing.T) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	var header elf.Header64
	if _, err := binary.Decode(program, binary.LittleEndian, &header); err != nil {
		t.Fatal(err)
	}
	header.Shoff, header.Shnum = uint64(len(program)), 0 // the first section has it
	program, err = binary.Append(program, binary.LittleEndian, elf.Section64{Size: 1 << 25})
	if err == nil {
		_, err = binary.Encode(program, binary.LittleEndian, header)
	}
	path := filepath.Join(t.TempDir(), "claiming")
	if err == nil {
		err = os.WriteFile(path, program, 0o700)
	}
	if err == nil {
		err = os.Truncate(path, 2<<30)
	}
	cmd := exec.Command(path, "3600")
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// TestClaims checks that gdb is not given a process whose file claims more than can be, that the sentence names the file, and that
// others are read.
func TestClaims(t *testing.T) {
	const claims = `its file .*/claiming is unsafe to debug: 33554432 sections can't be right`
	bad := claiming(t)
	for want, pids := range map[string][]int{
		"^" + claims + ".*$": {bad}, "^" + claims + ".* read by .* read by .*$": {bad, 7, 8}, "^read by .* " + claims + ".* read by .*$": {7, bad, 8},
	} {
		l := listing(pids...)
		if err := fake(t, "in turn", time.Minute).ReadInTurn(t.Context(), read.Filter{}, len(l.of), l); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.said, " "); len(l.said) != len(pids) || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q, want %s", l.said, want)
		}
	}
	self := &server{Helper: helper.New("1.0", zerolog.Nop(), new(launch.Finder))}
	cmd := exec.Command("/proc/"+strconv.Itoa(bad)+"/exe", "3600")
	cmd.Env = []string{"PMIX_NAMESPACE=claims", "PMIX_RANK=0"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	out, err := self.Ranks(t.Context(), nil, bridge.RanksParams{PID: cmd.Process.Pid})
	if err != nil || len(out.Ranks) != 1 || !regexp.MustCompile(claims).MatchString(out.Ranks[0].Obstacle) {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestLimits checks that gdb runs with a bound on its memory, and may open as many files as is allowed at all.
func TestLimits(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	lower := syscall.Rlimit{Cur: files.Max - 1, Max: files.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files) }()
	s, err := fake(t, "tells its limit", time.Minute).Read(t.Context(), Task{Job: 7})
	if want := fmt.Sprint(maxData, 0); err != nil || s.Processes[0].Unavailable != want {
		t.Errorf("%+v, %v, want %s", s, err, want)
	}
}

// TestTooFewFiles checks that no gdb is run that could open too few files for its processes.
func TestTooFewFiles(t *testing.T) {
	if err := checkFiles(1); err != nil {
		t.Error(err)
	}
	err := checkFiles(math.MaxInt64 / 4)
	if errorOf[*UselessError](err) == nil || !strings.HasSuffix(err.Error(), "have it raised (`ulimit -Hn'), or read fewer ranks at once") {
		t.Error(err)
	}
}
