package waitfor

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// gets has a rank get a signal.
func (r *madeRank) gets(signal string, cause mqs.SignalCause) {
	r.computes()
	r.Signal, r.SignalCause, r.SignalThread = signal, cause, mqs.Known(r.Threads[0].Number)
}

func TestCrashed(t *testing.T) {
	check(t, []verdictCase{
		{name: "receive from one that has crashed", ranks: 3, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).gets("SIGSEGV", mqs.NotMapped)
			m.rank(2).recv(worldID, 0, 7)
		}, verdict: Deadlocked, states: "DES", cycles: "0: 0>1", why: "Rank 0 waits for rank 1, which has crashed: SIGSEGV (address not mapped) in "},
		{name: "a barrier without one that has aborted", ranks: 3, make: func(m *made) {
			m.each(func(r *madeRank) { r.enters(worldID, "MPI_Barrier") }, 0, 2)
			m.rank(1).gets("SIGABRT", mqs.SentByItself)
		}, verdict: Deadlocked, states: "DED", cycles: "0,2: 0>1", why: "Ranks 0, 2 wait for rank 1, which has crashed: SIGABRT (sent by itself) in "},
		{name: "MPI_Finalize without one that has crashed", ranks: 2, make: func(m *made) {
			m.rank(0).enters(0, "MPI_Finalize")
			m.rank(1).gets("SIGBUS", mqs.NoSuchAddress)
		}, verdict: Deadlocked, states: "DE", cycles: "0: 0>1", why: "Rank 0 waits for rank 1, which has crashed: SIGBUS"},
		{name: "a message from one that has crashed has come", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).message(worldID, 0, 7)
			m.rank(1).gets("SIGSEGV", mqs.NotMapped)
		}, verdict: Undecided, states: "WE"},
		{name: "one that handles the signal may go on", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).gets("SIGSEGV", mqs.NotMapped)
			m.rank(1).SignalHandled = mqs.Known(true)
		}, verdict: Unknown, states: "WN", why: "is stopped by SIGSEGV (address not mapped) in "},
		{name: "one that nobody knows who has ended", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).gets("SIGABRT", "")
		}, verdict: Unknown, states: "WN", why: "is stopped by SIGABRT in "},
		{name: "all are ended by their user", ranks: 2, make: func(m *made) {
			for i := range 2 {
				m.rank(i).recv(worldID, int32(1-i), 7)
				m.rank(i).Signal, m.rank(i).SignalCause = "SIGABRT", mqs.SentByAnother
			}
		}, verdict: Deadlocked, states: "DD", cycles: "0-1: 0>1 1>0"},
		{name: "one that computes is ended by its user", ranks: 2, make: func(m *made) {
			m.rank(0).recv(worldID, 1, 7)
			m.rank(1).gets("SIGABRT", mqs.SentByAnother)
		}, verdict: Undecided, states: "WR"},
	})
}

// Which rank has crashed is said, too, where nobody waits for it.
func TestCrashNotes(t *testing.T) {
	m := newMade(3)
	m.rank(0).computes()
	m.rank(1).gets("SIGFPE", mqs.DividedByZero)
	m.rank(2).Phase, m.rank(2).Signal = mqs.Exited, "SIGKILL"
	notes := strings.Join(Analyse(m.Snapshot).Notes, "\n")
	for _, want := range []string{"Rank 1 has crashed: SIGFPE (integer divided by zero) in ", "Rank 2 has been ended by SIGKILL."} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

func TestExitCode(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(1).Phase, m.rank(1).ExitCode = mqs.Exited, mqs.Known(3)
	if r := Analyse(m.Snapshot); r.Verdict != Deadlocked || !strings.Contains(r.Why, "Rank 0 waits for rank 1, which has exited with code 3.") {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
}
