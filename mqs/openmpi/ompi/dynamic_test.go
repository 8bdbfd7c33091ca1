package ompi

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Messages with the program's tag may be a call's own, where nothing tells these apart: of one that makes an
// intercommunicator those that it holds, of one that agrees on a context all there are.
func TestWithProgramsTag(t *testing.T) {
	const agrees = "opal_progress < ompi_comm_nextcid < PMPI_Comm_create_group"
	of := func(first inferior.Addr, n int) (out []Waitable) {
		for i := range n {
			out = append(out, Waitable{Addr: first + inferior.Addr(i), Tag: 7})
		}
		return out
	}
	internal := Waitable{Addr: 0x900, Tag: -16}
	wild := Waitable{Addr: 0x901, Tag: AnyTag}
	for name, c := range map[string]struct {
		functions  string
		open, held []Waitable
		want       []Waitable
	}{
		"what it holds":               {"opal_progress < PMPI_Intercomm_create", of(0x10, 3), of(0x10, 2), of(0x10, 2)},
		"all there is":                {agrees, of(0x10, 3), of(0x10, 1), of(0x10, 3)},
		"before it agrees":            {"opal_progress < PMPI_Comm_create_group", of(0x10, 3), of(0x10, 1), nil},
		"another call that agrees":    {"opal_progress < ompi_comm_nextcid < PMPI_Comm_dup", of(0x10, 3), of(0x10, 1), nil},
		"beside a collective's":       {agrees, append(of(0x10, 1), internal), nil, of(0x10, 1)},
		"beside one of any tag":       {agrees, append(of(0x10, 1), wild), nil, append(of(0x10, 1), wild)},
		"as many as may be":           {agrees, of(0x10, maxAgreeing), nil, of(0x10, maxAgreeing)},
		"more than that":              {agrees, of(0x10, maxAgreeing+1), nil, nil},
		"as many, and a collective's": {agrees, append(of(0x10, maxAgreeing), internal), nil, of(0x10, maxAgreeing)},
	} {
		if got := withProgramsTag(call(c.functions), c.open, c.held); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
