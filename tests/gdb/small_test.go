//go:build live

package gdb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// TestSmallSends checks what the README says of Open MPI's small sends: through shared memory, the sender keeps nothing of one of
// up to 256 bytes, and the receiver has it as an unexpected message.
func TestSmallSends(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "small", 2, nil)
	for rank, want := range []struct {
		queue string
		tags  []string
	}{{"pending_sends", []string{"257"}}, {"unexpected_messages", []string{"256", "257"}}} {
		account := job.Accounts[rank]
		process := work.Read(t, live.Process(account.PID)).Process(t)
		live.Report(t, expect.Compare(account, process))
		if got := tagsOf(process, want.queue); !slices.Equal(got, want.tags) {
			t.Errorf("rank %d has %s with the tags %v, want %v", rank, want.queue, got, want.tags)
		}
	}
}

// tagsOf returns the tags of what is in one queue of MPI_COMM_WORLD, which is the first communicator.
func tagsOf(process expect.Object, queue string) (tags []string) {
	operations, _ := expect.Operations(expect.Communicators(process)[0], queue)
	for _, op := range operations {
		tags = append(tags, fmt.Sprint(op["desired_tag"]))
	}
	return tags
}
