//go:build linux

// Package acquisition is the debugger's side of the MPIR Process Acquisition Interface (MPI Forum,
// 2010): it has a gdb of its own trace the launcher of a job, which tells there what it has started.
//
// A debugger of this kind does with the members of the interface what stands here; those that the
// launcher has are told by [launch.Starter].
//
//   - MPIR_being_debugged is set in the launcher before its main, and in each rank as soon as the
//     library is there that has it. It is cleared in the launcher when nobody traces it any more.
//   - MPIR_Breakpoint stops the launcher, and MPIR_debug_state says why: for MPIR_NULL it goes on, for
//     MPIR_DEBUG_SPAWNED the debugger attaches to the ranks in MPIR_proctable that it does not have
//     yet, for MPIR_DEBUG_ABORTING the user is told MPIR_debug_abort_string.
//   - MPIR_debug_gate is set in each rank of this machine, also in those that can't be attached to, so
//     that none waits for ever. That is what a launcher without MPIR_partial_attach_ok asks for, and
//     does no harm where there is that symbol.
//   - MPIR_acquired_pre_main has ranks stand stopped before their main (SIGSTOP). Those that do are let
//     go of that stop, whether the launcher says so or not.
//   - MPIR_force_to_main has ranks shown in main.
//   - MPIR_i_am_starter tells a launcher from one that is rank 0 itself. The latter is handed to the
//     user's debugger, too.
//   - MPIR_ignore_queues is for who reads queues (package locate).
//   - MPIR_executable_path, MPIR_server_arguments, MPIR_forward_output and MPIR_attach_fifo stay as they
//     are: they are for debuggers that have the launcher start their own daemons beside the ranks, and
//     this one has none.
package acquisition

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

//go:embed trace.py
var script []byte

// patience is how long gdb may take to attach, and to end.
const (
	attachPatience = 30 * time.Second
	endPatience    = 5 * time.Second
)

// Tracer is a gdb that traces a launcher.
type Tracer struct {
	pid   int
	cmd   *exec.Cmd
	conn  net.Conn
	from  *bufio.Reader
	ended chan struct{} // closed when gdb has ended

	stops  chan struct{}
	isLeft atomic.Bool // the launcher is another debugger's
	close  sync.Once
}

// Trace has a gdb, by its path, attach to a launcher that is stopped before its first instruction
// (package hold), and go on with it. folder is for the gdb's script. Errors are clauses, and leave
// the launcher as it is.
func Trace(gdb, folder string, pid int) (*Tracer, error) {
	path := filepath.Join(folder, "trace.py")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, err
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(gdb, "-nx", "-batch", "-readnever", "-iex", "set auto-load no", "-x", path)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=", fmt.Sprint("MPI_QUEUES_LAUNCHER=", pid))
	cmd.Stdin = theirs
	cmd.SysProcAttr = child.OwnSession()
	t := &Tracer{pid: pid, cmd: cmd, conn: ours, from: bufio.NewReader(ours), ended: make(chan struct{}), stops: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends gdb when the thread that started it is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = theirs.Close()
		started <- err
		if err == nil {
			_ = cmd.Wait() // what it has left is seen in the launcher
			close(t.ended)
		}
	}()
	if err := <-started; err != nil {
		_ = ours.Close()
		return nil, err
	}
	_ = ours.SetReadDeadline(time.Now().Add(attachPatience))
	line, err := t.hear()
	_ = ours.SetReadDeadline(time.Time{})
	if err == nil && line == "attached" {
		go t.follow()
		return t, nil
	}
	t.kill()
	<-t.ended
	_ = ours.Close()
	if reason, failed := strings.CutPrefix(line, "failed "); failed {
		return nil, errors.New(strings.TrimSuffix(printable.Line(reason), "."))
	}
	return nil, fmt.Errorf("the gdb %s did not attach to it", gdb)
}

// hear returns the next line that gdb says.
func (t *Tracer) hear() (string, error) {
	line, err := t.from.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// follow hears of stops, and mends what a gdb has left that was killed.
func (t *Tracer) follow() {
	defer close(t.stops)
	for {
		line, err := t.hear()
		if err != nil {
			break
		}
		if line == "stopped" {
			t.stops <- struct{}{}
		}
	}
	// gdb may have been killed. The kernel closes its files before it lets go of what it traces.
	if !t.isLeft.Load() {
		mend(t.pid)
	}
	<-t.ended
	if !t.isLeft.Load() && !t.cmd.ProcessState.Exited() {
		// It may have been about to stop the launcher, so as to let go of it.
		_ = unix.Kill(t.pid, unix.SIGCONT)
	}
}

// Stops yields each stop of the launcher in MPIR_Breakpoint, which ends by [Tracer.Continue] or
// [Tracer.Leave]. It is closed when gdb has ended: the launcher runs on then, or has ended.
func (t *Tracer) Stops() <-chan struct{} { return t.stops }

// Continue has the launcher go on.
func (t *Tracer) Continue() { _, _ = t.conn.Write([]byte("go\n")) }

// Leave lets go of the launcher, which stays stopped (T) for another debugger. gdb has ended then.
func (t *Tracer) Leave() error {
	t.isLeft.Store(true)
	_, err := t.conn.Write([]byte("leave\n"))
	select {
	case <-t.ended:
	case <-time.After(endPatience):
		t.kill()
		<-t.ended
		return errors.Join(err, errors.New("its gdb does not let go of it"))
	}
	return err
}

// Close lets go of the launcher, which runs on.
func (t *Tracer) Close() {
	t.close.Do(func() {
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			for range t.stops { // those that nobody has heard of
			}
		}()
		defer func() { <-followed }()
		select {
		case <-t.ended: // by itself: it has none to let go of
			_ = t.conn.Close()
			return
		default:
		}
		_ = Poke(t.pid, beingDebugged, 0)
		_ = t.conn.Close()
		_ = t.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-t.ended:
		case <-time.After(endPatience):
			t.kill()
		}
	})
}

func (t *Tracer) kill() { _ = t.cmd.Process.Signal(unix.SIGKILL) }
