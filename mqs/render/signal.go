package render

import (
	"bufio"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// signalText says which signal ends a process, or how it has ended.
func signalText(w *bufio.Writer, p *mqs.Process) {
	if text := signalOf(p); text != "" {
		fmt.Fprintln(w, printable.Line(text))
	}
}

// signalOf describes the signal of a process or its exit: "Crashed: SIGSEGV (address not mapped) in thread 2".
func signalOf(p *mqs.Process) string {
	if p.Signal == "" {
		if p.ExitCode.Known {
			return fmt.Sprintf("Exited with code %d", p.ExitCode.Value)
		}
		return ""
	}
	text := p.Signal
	if p.SignalCause != "" {
		text += " (" + string(p.SignalCause) + ")"
	}
	if p.SignalThread.Known && len(p.Threads) > 1 {
		text += fmt.Sprintf(" in thread %d", p.SignalThread.Value)
	}
	switch {
	case p.Phase == mqs.Exited:
		return "Ended by " + text
	case p.HasCrashed():
		return "Crashed: " + text
	case p.SignalHandled == mqs.Known(true):
		return "Stopped by " + text + ", which the program handles"
	}
	return "Stopped by " + text
}
