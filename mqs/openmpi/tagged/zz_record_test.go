package tagged

import (
	"os"
	"strconv"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

func TestZZRecord(t *testing.T) {
	pid, _ := strconv.Atoi(os.Getenv("PID"))
	p, err := procmem.NewFiles(append(ompi.Symbols, symOFI, symMessages)...).Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	rec := inferior.NewRecorder(p)
	for name, ops := range sketched(t, rec) {
		t.Log(name, len(ops))
	}
	f, _ := os.Create("testdata/libfabric-rank-0.mpiq")
	if err := recording.Write(f, recording.Content{Recorders: []*inferior.Recorder{rec}, Choice: read.Native}); err != nil {
		t.Fatal(err)
	}
	f.Close()
}
