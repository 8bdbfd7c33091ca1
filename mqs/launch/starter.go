package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// State is what has become of a launcher's job, as MPIR_debug_state has it.
type State int32

// The values of MPIR_debug_state.
const (
	StateNull     State = 0 // MPIR_NULL: nothing that concerns a debugger
	StateSpawned  State = 1 // MPIR_DEBUG_SPAWNED: the ranks are started, and in the table
	StateAborting State = 2 // MPIR_DEBUG_ABORTING: the job is being aborted
)

// The variables of a launcher's that tell what has become of its job.
const (
	stateSymbol = "MPIR_debug_state"        // int
	abortSymbol = "MPIR_debug_abort_string" // char *
)

// The variables of srun's that hold its job's number and its step's: char * (dynamic symbols of Slurm 24.11's).
const (
	slurmJobSymbol  = "totalview_jobid"
	slurmStepSymbol = "totalview_stepid"
)

// The symbols of a launcher's whose presence tells something, whatever they are and hold.
const (
	starterSymbol       = "MPIR_i_am_starter"
	partialAttachSymbol = "MPIR_partial_attach_ok"
	preMainSymbol       = "MPIR_acquired_pre_main"
	toMainSymbol        = "MPIR_force_to_main"
)

// Starter is what a launcher tells debuggers beside its table (the MPIR process acquisition interface).
type Starter struct {
	// State is what has become of the job.
	State State
	// AbortReason is why the job is being aborted, empty if it is not, or for no known reason.
	AbortReason string
	// IsSeparate is true of a launcher that is no rank of the job itself.
	IsSeparate bool
	// PartialAttach is true if a debugger need not attach to all ranks: it is the launcher that holds
	// them until it goes on.
	PartialAttach bool
	// PreMain is true if the ranks are stopped before their main.
	PreMain bool
	// ToMain is true if a debugger is to show the ranks in main.
	ToMain bool
}

// ReadStarter reads what a launcher tells, while it runs on or is stopped.
func ReadStarter(pid int) (*Starter, error) {
	names := []string{stateSymbol, abortSymbol, starterSymbol, partialAttachSymbol, preMainSymbol, toMainSymbol}
	p, err := procmem.Open(pid, names...)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	found, err := p.FindSymbols(context.Background(), names)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for i, name := range names {
		has[name] = found[i] != nil
	}
	s := &Starter{IsSeparate: has[starterSymbol], PartialAttach: has[partialAttachSymbol], PreMain: has[preMainSymbol], ToMain: has[toMainSymbol]}
	s.State, s.AbortReason, err = readState(p)
	return s, err
}

// readState reads what has become of a launcher's job, and why it is being aborted; [StateNull] if the
// launcher does not tell.
func readState(launcher inferior.Inferior) (State, string, error) {
	r := inferior.NewReader(context.Background(), launcher)
	symbols, err := r.Symbols(stateSymbol, abortSymbol)
	if err != nil {
		return StateNull, "", err
	}
	at, hasState := symbols[stateSymbol]
	if !hasState {
		return StateNull, "", nil
	}
	n, err := r.Int(at.Addr, 4)
	state := State(n)
	if err != nil || state != StateAborting {
		return state, "", err
	}
	text, hasText := symbols[abortSymbol]
	if !hasText {
		return state, "", nil
	}
	where, err := r.Pointers(text.Addr, 1)
	if err != nil || where[0] == 0 {
		return state, "", err
	}
	reason, err := r.CString(where[0], maxText)
	if err != nil {
		return state, "", errors.Join(fmt.Errorf("its %s can't be read", abortSymbol), err)
	}
	return state, printable.Line(reason), nil
}

// readStep reads which step of Slurm's a launcher has started, "JOB.STEP"; empty if none, or it does not tell.
func readStep(launcher inferior.Inferior) string {
	r := inferior.NewReader(context.Background(), launcher)
	symbols, err := r.Symbols(slurmJobSymbol, slurmStepSymbol)
	if err != nil {
		return ""
	}
	number := func(name string) string {
		at, has := symbols[name]
		if !has {
			return ""
		}
		where, err := r.Pointers(at.Addr, 1)
		if err != nil || where[0] == 0 {
			return ""
		}
		const most = 12 // of 32 bits, with its end
		text, err := r.CString(where[0], most)
		if err != nil || strings.Trim(text, "0123456789") != "" {
			return ""
		}
		return text
	}
	job, step := number(slurmJobSymbol), number(slurmStepSymbol)
	if job == "" || step == "" {
		return ""
	}
	return job + "." + step
}
