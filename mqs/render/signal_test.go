package render

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func TestSignalOf(t *testing.T) {
	two := []mqs.Thread{{Number: 1}, {Number: 2}}
	for want, p := range map[string]mqs.Process{
		"": {},
		"Crashed: SIGSEGV (address not mapped) in thread 2": {Signal: "SIGSEGV", SignalCause: mqs.NotMapped, SignalThread: mqs.Known(2), Threads: two},
		"Crashed: SIGBUS": {Signal: "SIGBUS", SignalThread: mqs.Known(1)},
		"Stopped by SIGABRT (sent by another process)":                       {Signal: "SIGABRT", SignalCause: mqs.SentByAnother},
		"Stopped by SIGSEGV (address not mapped), which the program handles": {Signal: "SIGSEGV", SignalCause: mqs.NotMapped, SignalHandled: mqs.Known(true)},
		"Ended by SIGKILL":   {Signal: "SIGKILL", Phase: mqs.Exited},
		"Exited with code 3": {Phase: mqs.Exited, ExitCode: mqs.Known(3)},
	} {
		if got := signalOf(&p); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
