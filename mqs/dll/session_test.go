//go:build linux

package dll_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
)

// TestEndOfListInGetCommunicator checks that the list of communicators may end in mqs_get_communicator, as it does in LAM/MPI 7.1's
// DLL where the last ones are hidden: that is no failure.
func TestEndOfListInGetCommunicator(t *testing.T) {
	t.Parallel()
	process := newToy(8, false)
	path := testdll.In(t.TempDir()).Rogue(t, "answer", "mqs_get_communicator", "-DANSWER=2")
	h := hosts()
	defer h.Close()
	s, err := process.open(t, h, path)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range s.Communicators() {
		t.Errorf("%+v, %v", c, err)
	}
}
