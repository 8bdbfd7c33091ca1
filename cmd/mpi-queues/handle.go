package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/render"
)

// handle is which handle of a recording is to be shown.
type handle struct {
	text, kind string
	process    int
	// value is what text says, once it has been checked.
	value mqs.HandleValue
}

func (h *handle) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.text, "handle", "", "show what the handle `VALUE` stands for: hexadecimal as C has it, decimal as Fortran's INTEGER")
	f.StringVar(&h.kind, "type", "", "say what the handle is: `KIND` is one of\n"+kinds())
	f.IntVar(&h.process, "process", 0, "say which of the recorded processes has the handle, by its `PID`")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(strings.Split(kinds(), ", "), cobra.ShellCompDirectiveNoFileComp))
}

// kinds are the words for the kinds of handles.
func kinds() string {
	var words []string
	for _, k := range mqs.HandleKinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}

func (h *handle) isAsked() bool { return h.text != "" }

// check reads the handle, and says what is wrong with the flags.
func (h *handle) check(cmd *cobra.Command) (err error) {
	if !h.isAsked() {
		for _, name := range []string{"handle", "type", "process"} {
			if cmd.Flags().Changed(name) {
				return errors.New("--handle VALUE says which handle to show, and --type KIND and --process PID say more of it")
			}
		}
		return nil
	}
	for _, name := range []string{"comm", "view", "queue", "internal", "members", "all-communicators", "limit"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--handle and --%s do not go together: a handle is shown alone", name)
		}
	}
	if !slices.Contains(mqs.HandleKinds, mqs.HandleKind(h.kind)) {
		return fmt.Errorf("--handle needs --type and one of %s", kinds())
	}
	h.value, err = mqs.ParseHandle(mqs.HandleKind(h.kind), h.text)
	return err
}

// run shows the handle as gdb's command does.
func (h *handle) run(ctx context.Context, r *recording.Recording, v *view) error {
	process, err := h.choose(r)
	if err != nil {
		return usage(err)
	}
	shown, err := r.Handle(ctx, decoders.All, process, h.value)
	if err == nil {
		err = v.out(func(w io.Writer, isStyled bool) error {
			if v.json {
				return document.WriteHandle(w, shown)
			}
			return render.Handle(w, shown, render.Style{On: isStyled})
		})
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// choose returns the process that has the handle.
func (h *handle) choose(r *recording.Recording) (inferior.Inferior, error) {
	var fit []inferior.Inferior
	var there []string
	for _, p := range r.Processes {
		there = append(there, strconv.Itoa(p.Info().PID))
		if h.process == 0 || p.Info().PID == h.process {
			fit = append(fit, p)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	return nil, fmt.Errorf("the recording has the processes %s: --process PID says which of them has the handle", strings.Join(there, ", "))
}
