package expect

import (
	"fmt"
	"strings"
)

// Library is the MPI library of a process, as far as it decides what can be known of it.
type Library struct {
	// MPI is "Open MPI" or "MPICH", Release what it says of itself: "4.1.4".
	MPI     string `json:"mpi"`
	Release string `json:"release"`
	// Device is what carries its messages: Open MPI's pml ("ob1", "ucx", "cm") or MPICH's device with its
	// netmod ("ch3:nemesis", "ch4:ofi", "ch4:ucx").
	Device string `json:"device"`
	// Transport is the library that matches them, with its release ("UCX 1.13"), empty if the MPI does.
	Transport string `json:"transport"`
	// Stripped is true if neither types nor the symbols of its own are left.
	Stripped bool `json:"stripped"`
	// Found is true of a stripped library whose variables are found in its data, so that its objects are read.
	Found bool `json:"found,omitempty"`
	// SharedMemory is true of an MPICH that leaves messages to the transport, but has a module for shared memory.
	SharedMemory bool `json:"shared_memory,omitempty"`
	// DebuggerSupport is true of an MPICH that was configured with --enable-debuginfo.
	DebuggerSupport bool `json:"debugger_support"`
	// InPieces is true where an MPICH hands receives to the transport in pieces whose data has gaps.
	InPieces bool `json:"in_pieces,omitempty"`
}

// Fidelity is what the library keeps of its operations. Open MPI is read as well stripped as not.
func (l Library) Fidelity() Fidelity {
	switch {
	case l.MPI == "Open MPI" && l.Device == "ucx":
		return openMPIOverUCX()
	case l.MPI == "Open MPI" && l.Device == "cm":
		return openMPIOverOFI()
	case l.MPI == "Open MPI":
		return Fidelity{}
	case l.Stripped && !l.Found:
		// From 4.1 on requests know their communicators.
		return strippedMPICH(!strings.HasPrefix(l.Release, "4.0."))
	}
	f := l.typed()
	if l.isFrom(4, 2) {
		f.MayBeAbsent = orTakenBack(f.MayBeAbsent)
	}
	return f
}

// typed returns the fidelity of a build of MPICH whose objects are read.
func (l Library) typed() Fidelity {
	switch {
	case l.Found && l.Device == "ch4:ofi" && l.Transport != "":
		return foundMPICHOverOFI()
	case l.Found && l.Device == "ch4:ucx" && l.SharedMemory:
		return foundMPICH().besideSharedMemory()
	case l.Found && l.Device == "ch4:ucx":
		return foundMPICH()
	case l.Device == "ch4:ucx" && l.Transport != "":
		return mpichOverUCX()
	case l.Device == "ch4:ofi" && l.Transport != "" && l.InPieces:
		return mpichOverOFI(l.DebuggerSupport).inPieces()
	case l.Device == "ch4:ofi" && l.Transport != "":
		return mpichOverOFI(l.DebuggerSupport)
	}
	device, _, _ := strings.Cut(l.Device, ":")
	f := typedMPICH(device, l.DebuggerSupport)
	if device == "ch4" && l.isFrom(4, 3) {
		f.MayLackValue = orUnmarked(f.MayLackValue)
	}
	return f
}

// isFrom says whether the library is of a release or a newer one.
func (l Library) isFrom(major, minor int) bool {
	var x, y int
	if _, err := fmt.Sscanf(l.Release, "%d.%d", &x, &y); err != nil {
		return false
	}
	return x > major || x == major && y >= minor
}
