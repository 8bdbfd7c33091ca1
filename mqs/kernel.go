package mqs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Hold is why a process can't be stopped, so that no debugger can read it.
type Hold string

// The values of Hold. It is empty if the process can be stopped, or if that is unknown.
const (
	Unwakeable  Hold = "uninterruptible sleep" // a thread stays in a system call that no signal interrupts (D)
	Frozen      Hold = "frozen"                // its control group's freezer has stopped it
	BeingTraced Hold = "traced"                // another debugger traces it
	Unanswering Hold = "not stopping"          // it did not stop when asked
)

// KernelThread is what the kernel shows from outside of a thread that could not be stopped.
type KernelThread struct {
	// ID is the kernel's number of the thread.
	ID int `json:"id"`
	// State is the thread's own, which may differ from the process's.
	State RunState `json:"state" document:"null"`
	// SystemCall is the name of the system call that it is in: "openat".
	SystemCall string `json:"system_call" document:"null"`
	// Arguments are those of the system call, in the order of its registers.
	Arguments []inferior.Addr `json:"arguments"`
	// File is the file that the system call works on, as the program or the kernel names it.
	File string `json:"file" document:"null"`
	// WaitChannel is the kernel's function in which it sleeps.
	WaitChannel string `json:"wait_channel" document:"null"`
	// KernelStack are the kernel's functions that it is in, the innermost first.
	KernelStack []string `json:"kernel_stack"`
}

// HoldWords says why a process can't be stopped, as the rest of "it is": "in uninterruptible sleep in openat on
// /data/mesh.h5". threads are as in [Process.KernelThreads].
func HoldWords(h Hold, threads []KernelThread) string {
	switch h {
	case Frozen:
		return "frozen by its control group"
	case BeingTraced:
		return "traced by another debugger"
	case Unanswering:
		return "not stopping for a debugger" + callOf(threads)
	case Unwakeable:
		return "in uninterruptible sleep" + callOf(threads)
	}
	return "held for an unknown reason"
}

// callOf returns the system call of the first thread, and its file: " in openat on /data/mesh.h5".
func callOf(threads []KernelThread) string {
	if len(threads) == 0 || threads[0].SystemCall == "" {
		return ""
	}
	if threads[0].File == "" {
		return " in " + threads[0].SystemCall
	}
	return " in " + threads[0].SystemCall + " on " + threads[0].File
}

// Words describes a thread in one line: "thread 4242 (uninterruptible) is in openat(0xffffff9c, 0x7f01), wait channel
// rpc_wait_bit_killable, kernel stack rpc_wait_bit_killable < nfs_lookup".
func (t *KernelThread) Words() string {
	var arguments []string
	for _, a := range t.Arguments {
		arguments = append(arguments, fmt.Sprintf("%#x", uint64(a)))
	}
	text := fmt.Sprintf("thread %d", t.ID)
	if t.State != "" {
		text += fmt.Sprintf(" (%s)", t.State)
	}
	text += " is in " + cmp.Or(t.SystemCall, "an unknown system call")
	if t.SystemCall != "" && len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	if t.File != "" {
		text += " on " + t.File
	}
	if t.WaitChannel != "" {
		text += ", wait channel " + t.WaitChannel
	}
	if len(t.KernelStack) > 0 {
		text += ", kernel stack " + strings.Join(t.KernelStack, " < ")
	}
	return text
}
