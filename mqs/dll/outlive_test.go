//go:build linux

package dll_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
)

// asHelper makes the test's own program a helper that has a DLL checked.
const asHelper = "MPI_QUEUES_TEST_DLL_HELPER"

func beHelper(path string) {
	if err := os.Unsetenv(asHelper); err != nil {
		panic(err)
	}
	report, err := hosts().Check(context.Background(), path, 0)
	fmt.Fprintln(os.Stderr, report, err)
	os.Exit(1)
}

// A DLL that does not want to can't outlive the helper: here that is killed
// while the DLL has been called.
func TestHostDiesWithHelper(t *testing.T) {
	t.Parallel()
	library := testdll.In(t.TempDir()).Rogue(t, "outlive", "mqs_version_string")
	var said strings.Builder
	helper := exec.Command("/proc/self/exe")
	helper.Env = append(os.Environ(), asHelper+"="+library)
	helper.Stderr = &said
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- helper.Wait() }()
	host := 0
	for ; host == 0; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("the helper has ended: %v: %s", err, said.String())
		default:
			host = named(helper.Process.Pid, "outlive")
		}
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the helper was not killed")
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := procfs.Host.Stat(host)
		if err != nil || stat.HasEnded() {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(host, syscall.SIGKILL)
			t.Fatalf("the DLL's process is still there: %+v", stat)
		}
	}
}

// named is a child of a process with a thread of this name, 0 if there is none.
func named(parent int, name string) int {
	threads, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*/status")
	for _, path := range threads {
		status, err := os.ReadFile(path)
		text := string(status)
		if err == nil && strings.HasPrefix(text, "Name:\t"+name+"\n") && strings.Contains(text, fmt.Sprintf("\nPPid:\t%d\n", parent)) {
			if pid, err := strconv.Atoi(strings.Split(path, "/")[2]); err == nil {
				return pid
			}
		}
	}
	return 0
}
