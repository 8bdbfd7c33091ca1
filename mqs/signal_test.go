package mqs

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func TestTakeSignal(t *testing.T) {
	number, truth := func(n int) *int { return &n }, func(b bool) *bool { return &b }
	for _, c := range []struct {
		s       inferior.Signal
		name    string
		cause   SignalCause
		crashed bool
	}{
		{inferior.Signal{Name: "SIGSEGV", Code: number(1), Thread: 2}, "SIGSEGV", NotMapped, true},
		{inferior.Signal{Name: "SIGSEGV", Code: number(2)}, "SIGSEGV", NotAccessible, true},
		{inferior.Signal{Name: "SIGSEGV", Code: number(99)}, "SIGSEGV", FaultOfItsOwn, true},
		{inferior.Signal{Name: "SIGSEGV", Code: number(0x80)}, "SIGSEGV", SentByTheKernel, true},
		{inferior.Signal{Name: "SIGSEGV", Code: number(1), Handled: truth(true)}, "SIGSEGV", NotMapped, false},
		{inferior.Signal{Name: "SIGSEGV"}, "SIGSEGV", "", true},
		{inferior.Signal{Name: "SIGFPE", Code: number(1)}, "SIGFPE", DividedByZero, true},
		{inferior.Signal{Name: "SIGABRT", Code: number(-6), Own: truth(true)}, "SIGABRT", SentByItself, true},
		{inferior.Signal{Name: "SIGABRT", Code: number(0), Own: truth(false)}, "SIGABRT", SentByAnother, false},
		{inferior.Signal{Name: "SIGSEGV", Code: number(0), Own: truth(false)}, "SIGSEGV", SentByAnother, false},
		{inferior.Signal{Name: "SIGABRT", Code: number(0)}, "SIGABRT", "", false},
		{inferior.Signal{Name: "SIGABRT"}, "SIGABRT", "", false},
		{inferior.Signal{Name: "SIGSTOP", Code: number(0), Own: truth(false)}, "", "", false},
		{inferior.Signal{Name: "SIGTRAP", Code: number(1)}, "", "", false},
		{inferior.Signal{Name: "SIGINT", Code: number(0x80)}, "", "", false},
		{inferior.Signal{}, "", "", false},
	} {
		var p Process
		p.Take(&c.s)
		if p.Signal != c.name || p.SignalCause != c.cause || p.HasCrashed() != c.crashed {
			t.Errorf("%+v: %q, %q, crashed %v", c.s, p.Signal, p.SignalCause, p.HasCrashed())
		}
		if p.SignalThread.Known != (c.s.Thread > 0) {
			t.Errorf("%+v: thread %v", c.s, p.SignalThread)
		}
	}
	var p Process
	p.Take(nil)
	if p.Signal != "" || p.HasCrashed() {
		t.Error("no signal is one")
	}
}
