package callstack

// BlockingSends and BlockingRecvs are MPI's calls that wait for a request of
// their own, by the kind that the request then has. MPI_Sendrecv may have one of
// each or, of an eager message or to MPI_PROC_NULL, none, so that a request that
// it holds need not be its own.
var (
	BlockingSends = map[string]string{"MPI_Send": "send", "MPI_Ssend": "ssend", "MPI_Rsend": "rsend",
		"MPI_Sendrecv": KindNotKnown, "MPI_Sendrecv_replace": KindNotKnown}
	BlockingRecvs = map[string]string{"MPI_Recv": "recv", "MPI_Mrecv": "mrecv",
		"MPI_Sendrecv": KindNotKnown, "MPI_Sendrecv_replace": KindNotKnown}
)

// KindNotKnown is the kind of a request that may or may not be a call's own.
const KindNotKnown = ""
