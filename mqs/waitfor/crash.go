package waitfor

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// exitWords says how a process has ended, as the rest of a sentence.
func exitWords(p *mqs.Process) string {
	switch {
	case p.Signal != "":
		return "has been ended by " + p.Signal
	case p.ExitCode.Known && p.ExitCode.Value != 0:
		return fmt.Sprintf("has exited with code %d", p.ExitCode.Value)
	}
	return "has exited"
}

// signalWords says which signal a process has got, why, and where: "SIGSEGV (address not mapped) in thread 2 in
// MPI_Send (a.c:10)".
func signalWords(p *mqs.Process) string {
	text := p.Signal
	if p.SignalCause != "" {
		text += fmt.Sprintf(" (%s)", p.SignalCause)
	}
	if len(p.Threads) > 1 && p.SignalThread.Known {
		text += fmt.Sprintf(" in thread %d", p.SignalThread.Value)
	}
	switch t := signalled(p); {
	case t == nil:
	case t.Call != "":
		text += " in " + callWords(t)
	case t.File != "" && t.Function != "":
		text += fmt.Sprintf(" in %s (%s)", t.Function, at(t))
	case at(t) != "":
		text += " in " + at(t)
	}
	return text
}

// signalled is the thread that has got the signal; nil if it is not listed. Where it is not known which one that was,
// it is the only one.
func signalled(p *mqs.Process) *mqs.Thread {
	for i := range p.Threads {
		if t := &p.Threads[i]; p.SignalThread == mqs.Known(t.Number) || !p.SignalThread.Known && len(p.Threads) == 1 {
			return t
		}
	}
	return nil
}

// signalDoubt says why it is not known whether a process that has got a signal goes on, as the rest of a clause.
func signalDoubt(p *mqs.Process) string {
	text := "is stopped by " + signalWords(p)
	if p.SignalHandled == mqs.Known(true) {
		return text + ", which the program handles, and what it does then is not known"
	}
	return text + ", and who has sent that is not known"
}

// crashes says which ranks have crashed, or have got a signal after which they may not go on.
func (a *analysis) crashes() []string {
	var out []string
	isToldOf := func(r *rank) bool { return r.process != nil && r.process.Signal != "" }
	isFromOutside := func(r *rank) bool {
		return isToldOf(r) && r.process.Phase != mqs.Exited && r.process.SignalCause == mqs.SentByAnother
	}
	if ranks := a.which(isFromOutside); len(ranks) > 0 {
		out = append(out, fmt.Sprintf("%s got a signal from another process: %s taken as %s stood then.", capital(rankWords(ranks)), verb(ranks, "it is", "they are"), verb(ranks, "it", "they")))
	}
	for _, rank := range a.which(func(r *rank) bool { return isToldOf(r) && !isFromOutside(r) }) {
		if len(out) == maxReasons {
			return append(out, "There are more ranks that a signal has stopped.")
		}
		p := a.ranks[rank].process
		if p.Phase == mqs.Exited || p.HasCrashed() {
			out = append(out, fmt.Sprintf("Rank %d %s.", rank, a.now(rank)))
		} else {
			out = append(out, fmt.Sprintf("Rank %d %s.", rank, signalDoubt(p)))
		}
	}
	return out
}
