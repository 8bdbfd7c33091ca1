package expect

import "testing"

// What is known of a pending non-blocking send and of a receive that is complete tells the oracles apart.
func TestLibraries(t *testing.T) {
	comm := Object{"name": "c", "size": 2}
	send := Object{"status": "pending", "kind": "isend", "desired_global_rank": 1}
	received := Object{"status": "complete", "kind": "irecv", "desired_global_rank": 1}
	type may struct {
		tag, count, source bool // be unknown: of the send its tag and count, of the receive its source
		missReceive        bool
	}
	for name, c := range map[string]struct {
		of   Library
		want may
	}{
		"Open MPI":                    {Library{MPI: "Open MPI", Device: "ob1", Stripped: true}, may{}},
		"Open MPI over UCX":           {Library{MPI: "Open MPI", Device: "ucx", Stripped: true}, may{count: true, source: true}},
		"MPICH's ch3":                 {Library{MPI: "MPICH", Release: "4.0.2", Device: "ch3:nemesis"}, may{source: true}},
		"MPICH's ch4":                 {Library{MPI: "MPICH", Release: "4.0.2", Device: "ch4:ofi"}, may{tag: true, count: true, source: true}},
		"MPICH's ch4 with a debugger": {Library{MPI: "MPICH", Release: "4.0.2", Device: "ch4:ofi", DebuggerSupport: true}, may{source: true}},
		"MPICH's ch4 over libfabric":  {Library{MPI: "MPICH", Release: "4.0.2", Device: "ch4:ofi", Transport: "libfabric 1.13"}, may{count: true, source: true}},
		"MPICH over UCX":              {Library{MPI: "MPICH", Release: "4.0.2", Device: "ch4:ucx", Transport: "UCX 1.13"}, may{count: true, source: true, missReceive: true}},
		"MPICH, stripped":             {Library{MPI: "MPICH", Release: "5.0.2", Device: "ch4:ucx", Stripped: true}, may{count: true, missReceive: true}},
	} {
		k := c.of.Fidelity()
		got := may{
			k.mayLackValue(comm, "pending_sends", "desired_tag", send, Object{}),
			k.mayLackValue(comm, "pending_sends", "count", send, Object{}),
			k.mayLackValue(comm, "pending_receives", "desired_local_rank", received, Object{}),
			k.mayBeAbsent(comm, "pending_receives", received),
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// From 4.1 on a stripped MPICH's requests know their communicators, and with them whom they name.
	for release, bare := range map[string]bool{"4.0.2": true, "4.2.1": false} {
		k := Library{MPI: "MPICH", Release: release, Device: "ch4:ucx", Stripped: true}.Fidelity()
		if (k.MayBeElsewhere != nil && k.MayBeElsewhere(Object{"remote_group": []any{1}})) != bare {
			t.Errorf("%s: that an intercommunicator's sends stray is not %v", release, bare)
		}
	}
}
