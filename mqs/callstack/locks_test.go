package callstack

import (
	"context"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// The thread that holds a lock is the one that the lock names, as long as others wait for it: words that name
// nobody, or somebody else, and waits for something else than a lock, show none.
func TestHolder(t *testing.T) {
	const (
		at     = 0x5000
		mutex  = "?@libc.so.6 < pthread_mutex_lock@libc.so.6 < main:"
		reader = "?@libc.so.6 < pthread_rwlock_rdlock@libc.so.6 < main:"
		writer = "?@libc.so.6 < pthread_rwlock_wrlock@libc.so.6 < main:"
	)
	nobody := mqs.Maybe[int]{}
	// The kernel knows thread 2 by 102, and thread 1, which waits, by 101.
	for name, c := range map[string]struct {
		stack     string
		arguments []uint64
		words     [8]uint32
		want      mqs.Maybe[int]
	}{
		"a mutex":                               {mutex, []uint64{at, 128, 2}, [8]uint32{2, 0, 102, 1}, mqs.Known(2)},
		"its own":                               {mutex, []uint64{at, 128, 2}, [8]uint32{2, 0, 101, 1}, mqs.Known(1)},
		"of one that is about to let go":        {mutex, []uint64{at, 128, 2}, [8]uint32{2, 0, 0, 1}, nobody},
		"of one that has let go":                {mutex, []uint64{at, 128, 2}, [8]uint32{0, 0, 102, 1}, nobody},
		"of one that is no thread":              {mutex, []uint64{at, 128, 2}, [8]uint32{2, 0, 777, 1}, nobody},
		"of another process":                    {mutex, []uint64{at, 0, 2}, [8]uint32{2, 0, 102, 1}, nobody},
		"with a time":                           {mutex, []uint64{at, 128, 2, 0x7fff}, [8]uint32{2, 0, 102, 1}, nobody},
		"a robust mutex":                        {mutex, []uint64{at, 128, 1<<31 | 102}, [8]uint32{1<<31 | 102}, mqs.Known(2)},
		"a robust mutex that has changed hands": {mutex, []uint64{at, 128, 1<<31 | 102}, [8]uint32{1<<31 | 103}, nobody},
		"one that inherits priorities":          {mutex, []uint64{at, 128 | 6, 0}, [8]uint32{1<<31 | 102}, mqs.Known(2)},
		"at the end of a condition":             {"?@libc.so.6 < pthread_cond_wait@libc.so.6 < main:", []uint64{at, 128, 2}, [8]uint32{2, 0, 102}, mqs.Known(2)},
		"a condition":                           {"?@libc.so.6 < pthread_cond_wait@libc.so.6 < main:", []uint64{at, 137, 2}, [8]uint32{2, 0, 102}, nobody},
		"a semaphore":                           {"?@libc.so.6 < sem_wait@libc.so.6 < main:", []uint64{at, 137, 2}, [8]uint32{2, 0, 102}, nobody},
		"a function of the program's":           {"pthread_mutex_lock: < main:", []uint64{at, 128, 2}, [8]uint32{2, 0, 102}, nobody},
		"reading":                               {reader, []uint64{at, 137, 3}, [8]uint32{3, 0, 0, 0, 102}, mqs.Known(2)},
		"writing, behind a writer":              {writer, []uint64{at, 137, 3}, [8]uint32{3, 0, 0, 102}, mqs.Known(2)},
		"writing, behind readers":               {writer, []uint64{at, 137, 3}, [8]uint32{3}, nobody},
		"where memory ends":                     {mutex, []uint64{0x9000, 128, 2}, [8]uint32{}, nobody},
	} {
		waiting := calling(inferiortest.Thread(1, c.stack), sysFutex, c.arguments...)
		waiting.ID = 101
		holding := inferiortest.Thread(2, "PMPI_Recv@/lib/libmpi.so < work:")
		holding.ID = 102
		p := inferiortest.Patch(stopped(waiting, holding)).AddMemory(at, make([]byte, 64))
		for i, w := range c.words {
			p.PutUint32(at+inferior.Addr(4*i), w)
		}
		got := Locate(inferior.NewReader(context.Background(), p))[0]
		if got.Holder != c.want {
			t.Errorf("%s: thread %v holds it, want %v", name, got.Holder, c.want)
		}
		if c.want.Known && got.Activity != mqs.Locks {
			t.Errorf("%s: it %q", name, got.Activity)
		}
	}
}

// A thread that waits in pthread_join for one that has ended goes on: the word where it waits is cleared. Other words that
// are 0 say nothing.
func TestEnded(t *testing.T) {
	const at, nameless = 0x5000, "?@libc.so.6 < ?@libc.so.6 < main:"
	for name, c := range map[string]struct {
		stack     string
		arguments []uint64
		word      uint32
		want      mqs.Activity
	}{
		"it has ended":             {nameless, []uint64{at, 265, 777}, 0, mqs.Computes},
		"it has ended, by name":    {"?@libc.so.6 < pthread_join@libc.so.6 < main:", []uint64{at, 0, 777}, 0, mqs.Computes},
		"it is there":              {nameless, []uint64{at, 265, 102}, 102, mqs.Joins},
		"it is not known":          {nameless, []uint64{at, 265, 777}, 777, mqs.Blocks},
		"of the process alone":     {nameless, []uint64{at, 137, 777}, 0, mqs.Waits},
		"a semaphore":              {nameless, []uint64{at, 265, 0}, 0, mqs.Blocks},
		"a condition":              {"?@libc.so.6 < pthread_cond_wait@libc.so.6 < main:", []uint64{at, 265, 777}, 0, mqs.Blocks},
		"with a time":              {nameless, []uint64{at, 265, 777, 0x7fff}, 0, mqs.Sleeps},
		"where there is no memory": {nameless, []uint64{0x9000, 265, 777}, 0, mqs.Blocks},
	} {
		waiting := calling(inferiortest.Thread(1, c.stack), sysFutex, c.arguments...)
		other := inferiortest.Thread(2, "PMPI_Recv@/lib/libmpi.so < work:")
		waiting.ID, other.ID = 101, 102
		p := inferiortest.Patch(stopped(waiting, other)).AddMemory(at, make([]byte, 16))
		p.PutUint32(at, c.word)
		if got := Locate(inferior.NewReader(context.Background(), p))[0]; got.Activity != c.want {
			t.Errorf("%s: it %q, want %q", name, got.Activity, c.want)
		}
	}
}

// What a thread waits for outside of MPI is told by the libraries that it is in, and by the system call.
func TestOutside(t *testing.T) {
	on := func(t inferior.Thread, file string) inferior.Thread {
		t.SystemCall.File = file
		return t
	}
	const spins = "cuStreamSynchronize@/usr/lib/libcuda.so.1 < ?@/opt/libcudart.so.12 < cudaStreamSynchronize@/opt/libcudart.so.12 < main:"
	for name, c := range map[string]struct {
		thread   inferior.Thread
		want     mqs.Activity
		in, on   string
		isInCall bool
	}{
		"a GPU, spinning":        {calling(inferiortest.Thread(1, spins), -1), mqs.UsesGPU, "cudaStreamSynchronize", "", false},
		"a GPU, asleep":          {calling(inferiortest.Thread(1, "ioctl@libc.so.6 < ?@libhsa-runtime64.so.1 < hipDeviceSynchronize@libamdhip64.so.6 < main:"), 16), mqs.UsesGPU, "hipDeviceSynchronize", "", false},
		"a GPU, asleep in futex": {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_cond_wait@libc.so.6 < ncclGroupEnd@libnccl.so.2 < main:"), 202, 1, 137), mqs.UsesGPU, "ncclGroupEnd", "", false},
		"a GPU inside MPI":       {calling(inferiortest.Thread(1, "cuStreamSynchronize@libcuda.so.1 < PMPI_Recv@/lib/libmpi.so < main:"), -1), mqs.UsesGPU, "cuStreamSynchronize", "", true},
		"called by a GPU":        {calling(inferiortest.Thread(1, "loop: < ?@libcuda.so.1 < cuLaunchHostFunc@libcuda.so.1 < main:"), -1), mqs.Computes, "", "", false},
		"a lock on a file":       {on(calling(inferiortest.Thread(1, "flock@libc.so.6 < main:"), 73), "/scratch/x"), mqs.Locks, "flock", "/scratch/x", false},
		"a part of a file":       {on(calling(inferiortest.Thread(1, "fcntl@libc.so.6 < main:"), 72, 3, 7), "/scratch/x"), mqs.Locks, "fcntl", "/scratch/x", false},
		"a file":                 {on(calling(inferiortest.Thread(1, "read@libc.so.6 < main:"), 0), "/scratch/x"), mqs.UsesFile, "read", "/scratch/x", false},
		"a lock inside MPI":      {on(calling(inferiortest.Thread(1, "fcntl@libc.so.6 < PMPI_Recv@/lib/libmpi.so < main:"), 72, 3, 7), "/scratch/x"), mqs.Locks, "fcntl", "/scratch/x", true},
		"a file in MPI I/O":      {on(calling(inferiortest.Thread(1, "pwrite64@libc.so.6 < PMPI_File_write@/lib/libmpi.so < main:"), 18), "/scratch/x"), mqs.UsesFile, "pwrite64", "/scratch/x", true},
		"a file in MPI":          {on(calling(inferiortest.Thread(1, "pwrite64@libc.so.6 < PMPI_Recv@/lib/libmpi.so < main:"), 18), "/scratch/x"), "", "", "", true},
		"a pipe in MPI I/O":      {on(calling(inferiortest.Thread(1, "write@libc.so.6 < PMPI_File_write@/lib/libmpi.so < main:"), 1), "pipe:[17]"), "", "", "", true},
		"a disk":                 {calling(inferiortest.Thread(1, "fsync@libc.so.6 < main:"), 74), mqs.UsesFile, "fsync", "", false},
		"a pipe":                 {on(calling(inferiortest.Thread(1, "read@libc.so.6 < main:"), 0), "pipe:[17]"), mqs.Blocks, "read", "pipe:[17]", false},
		"a terminal":             {on(calling(inferiortest.Thread(1, "read@libc.so.6 < main:"), 0), "/dev/pts/3"), mqs.Blocks, "read", "/dev/pts/3", false},
		"the kernel":             {calling(inferiortest.Thread(1, "ioctl@libc.so.6 < main:"), 16), mqs.InKernel, "ioctl", "", false},
		"the kernel, otherwise":  {calling(inferiortest.Thread(1, "syscall@libc.so.6 < main:"), 999), mqs.InKernel, "system call 999", "", false},
		"more memory":            {calling(inferiortest.Thread(1, "mmap@libc.so.6 < main:"), 9), mqs.Computes, "", "", false},
		"waking another":         {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_mutex_unlock@libc.so.6 < main:"), 202, 1, 129), mqs.Computes, "", "", false},
		"a condition":            {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_cond_wait@libc.so.6 < main:"), 202, 1, 137), mqs.Waits, "pthread_cond_wait", "", false},
		"its team":               {calling(inferiortest.Thread(1, "?@libgomp.so.1 < GOMP_parallel@libgomp.so.1 < main:"), 202, 1, 128), mqs.Teams, "", "", false},
		"its team, for a while":  {calling(inferiortest.Thread(1, "?@libgomp.so.1 < GOMP_parallel@libgomp.so.1 < main:"), 202, 1, 128, 0, 0x7fff), mqs.Sleeps, "", "", false},
		"its team, of LLVM":      {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_cond_wait@libc.so.6 < ?@libomp.so.5 < main:"), 202, 1, 137), mqs.Teams, "", "", false},
	} {
		got := Locate(inferior.NewReader(context.Background(), stopped(c.thread)))[0]
		if got.Activity != c.want || got.BlockedIn != c.in || got.BlockedOn != c.on || (got.Call != "") != c.isInCall {
			t.Errorf("%s: it %q in %q on %q, in call %q; want %q in %q on %q", name, got.Activity, got.BlockedIn, got.BlockedOn, got.Call, c.want, c.in, c.on)
		}
	}
	// The library of a GPU may end a task for which a team or another thread waits.
	team := calling(inferiortest.Thread(1, "?@libgomp.so.1 < GOMP_parallel@libgomp.so.1 < main:"), 202, 1, 128)
	if got := Locate(inferior.NewReader(context.Background(), stopped(team, inferiortest.Thread(2, "poll@libc.so.6 < ?@libcuda.so.1")))); got[0].Activity == mqs.Teams {
		t.Errorf("beside a GPU: %+v", got)
	}
	condition := calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_cond_wait@libc.so.6 < main:"), 202, 1, 137)
	if got := Locate(inferior.NewReader(context.Background(), stopped(condition, inferiortest.Thread(2, "poll@libc.so.6 < ?@libcuda.so.1")))); got[0].Activity != mqs.Blocks {
		t.Errorf("beside a GPU: %+v", got)
	}
}

// TestLockHolders checks that a wait for a file's lock has the holders that the debugger reports, inside an MPI call and outside, and
// that no other system call has.
func TestLockHolders(t *testing.T) {
	for name, c := range map[string]struct {
		number  int64
		command uint64
		stack   string
		want    []mqs.LockHolder
	}{
		"outside MPI":  {72, 7, "fcntl@libc.so.6 < main:", []mqs.LockHolder{{PID: mqs.Known(7), Name: "holder"}, {}}},
		"inside MPI":   {72, 7, "fcntl@libc.so.6 < PMPI_File_write@/lib/libmpi.so < main:", []mqs.LockHolder{{PID: mqs.Known(7), Name: "holder"}, {}}},
		"without wait": {72, 6, "fcntl@libc.so.6 < main:", nil},
	} {
		thread := calling(inferiortest.Thread(1, c.stack), c.number, 3, c.command)
		thread.SystemCall.File, thread.SystemCall.LockHolders = "/scratch/x", []inferior.LockHolder{{PID: 7, Name: "holder"}, {}}
		if got := Locate(inferior.NewReader(context.Background(), stopped(thread)))[0]; !slices.Equal(got.LockHolders, c.want) {
			t.Errorf("%s: %+v", name, got.LockHolders)
		}
	}
}
