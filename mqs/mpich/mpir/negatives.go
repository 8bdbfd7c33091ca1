package mpir

import "github.com/mpi-queues/mpi-queues/mqs"

// Negatives are the ranks and tags of a library that have a meaning of their own.
type Negatives struct{ AnySource, AnyTag, ProcNull int32 }

// The negatives of MPICH (src/include/mpi.h.in, 4.0 to 5.0) and of MPI 5.0's ABI (the standard's appendix on the ABI,
// mpi_abi.h). MPICH's library for the ABI does not translate them, as it does handles (maint/gen_abi.py, 5.0): it keeps
// them in its requests as well.
var (
	ownNegatives = Negatives{AnySource: -2, AnyTag: -1, ProcNull: -1}
	abiNegatives = Negatives{AnySource: -1, AnyTag: -2, ProcNull: -3}
)

// isABI says whether it is the library for the ABI.
func (l *Library) isABI() bool { return IsABI(l.Symbols[SymRequestPools].Object) }

// Negatives are those of the library: in what it was given, and in what it keeps of that.
func (l *Library) Negatives() Negatives {
	if l.isABI() {
		return abiNegatives
	}
	return ownNegatives
}

// source is a rank to receive from as it is shown: unknown of one that has another meaning than [mqs.AnyRank].
func (n Negatives) source(rank int32) mqs.Maybe[int32] {
	switch {
	case rank == n.AnySource:
		return mqs.Known(int32(mqs.AnyRank))
	case rank < 0:
		return mqs.Maybe[int32]{}
	}
	return mqs.Known(rank)
}

// tag is the tag of a receive as it is shown, -1 for any.
func (n Negatives) tag(tag int32) int32 {
	if tag == n.AnyTag {
		return -1
	}
	return tag
}
