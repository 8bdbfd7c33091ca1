package mqs

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// SignalCause is why a process got a signal.
type SignalCause string

// The causes, as si_code of siginfo_t tells them (sigaction(2), asm-generic/siginfo.h). The empty one is not known.
const (
	NotMapped       SignalCause = "address not mapped"       // it used an address at which nothing is
	NotAccessible   SignalCause = "access not permitted"     // it used an address in a way that is not permitted there
	Misaligned      SignalCause = "misaligned address"       // it used an address that is not aligned as it has to be
	NoSuchAddress   SignalCause = "no memory at the address" // it used an address behind the end of a mapped file, or the like
	MemoryError     SignalCause = "memory error"             // the machine's memory has failed
	DividedByZero   SignalCause = "integer divided by zero"  // it divided an integer by zero
	Overflow        SignalCause = "integer overflow"         // an operation on integers had no result
	FloatingPoint   SignalCause = "floating-point exception" // an operation on floating-point numbers trapped
	NoInstruction   SignalCause = "illegal instruction"      // it came to what is no instruction, or none that it may use
	FaultOfItsOwn   SignalCause = "fault"                    // it did something else that can't be done
	SentByItself    SignalCause = "sent by itself"           // as by abort, raise
	SentByAnother   SignalCause = "sent by another process"  // as by kill: where the process stands has nothing to do with it
	SentByTheKernel SignalCause = "sent by the kernel"       // as at a limit, or at an address that no process can have
)

// fatalSignals are those that end a process at something that it has done, or that leave it no choice. Those that stop
// one for a debugger, and those by which users and launchers end one, are none of them.
var fatalSignals = []string{"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGXCPU", "SIGXFSZ", "SIGKILL"}

// faultSignals are those of fatalSignals that the kernel sends at a fault of the process.
var faultSignals = []string{"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS"}

// causes are those of the faults, by the signal and si_code; the first one of a signal is code 1.
var causes = map[string][]SignalCause{
	"SIGSEGV": {NotMapped, NotAccessible},
	"SIGBUS":  {Misaligned, NoSuchAddress, MemoryError, MemoryError, MemoryError},
	"SIGFPE":  {DividedByZero, Overflow, FloatingPoint, FloatingPoint, FloatingPoint, FloatingPoint, FloatingPoint, FloatingPoint},
	"SIGILL":  {NoInstruction, NoInstruction, NoInstruction, NoInstruction, NoInstruction, NoInstruction, NoInstruction, NoInstruction},
}

// siKernel is SI_KERNEL.
const siKernel = 0x80

// causeOf returns why a process got a signal.
func causeOf(s *inferior.Signal) SignalCause {
	switch {
	case s.Code == nil:
		return ""
	case *s.Code == siKernel:
		return SentByTheKernel
	case *s.Code > 0 && !slices.Contains(faultSignals, s.Name):
		return ""
	case *s.Code > 0:
		if of := causes[s.Name]; *s.Code <= len(of) {
			return of[*s.Code-1]
		}
		return FaultOfItsOwn
	case s.Own == nil:
		return ""
	case *s.Own:
		return SentByItself
	}
	return SentByAnother
}

// Take takes over by which signal a process is ended, if it is one that says so.
func (p *Process) Take(s *inferior.Signal) {
	if s == nil || !slices.Contains(fatalSignals, s.Name) {
		return
	}
	p.Signal, p.SignalCause = s.Name, causeOf(s)
	if s.Thread > 0 {
		p.SignalThread = Known(s.Thread)
	}
	if s.Handled != nil {
		p.SignalHandled = Known(*s.Handled)
	}
}

// HasCrashed says whether a signal is known to end the process at the place where it stands. It is not where another
// process has sent the signal, as to have core files of a job that hangs, or where the program may go on by its handler.
func (p *Process) HasCrashed() bool {
	switch {
	case !slices.Contains(fatalSignals, p.Signal) || p.SignalHandled == Known(true) || p.SignalCause == SentByAnother:
		return false
	case p.SignalCause == "":
		return slices.Contains(faultSignals, p.Signal)
	}
	return true
}
