package expect

// RealHang is a hang as programs have it, as a mode of a program of tests/programs, and the words by which someone
// would know what to mend. An MPI of which there are none does not tell it.
type RealHang struct {
	Name, Program, Mode string
	Ranks               int
	OpenMPI, MPICH      Telling
}

// Telling is what an MPI's report says of a hang.
type Telling struct {
	// Words are parts of the text of the report, all of which it has.
	Words []string
	// IsAbsent is true if the MPI can't have this hang.
	IsAbsent bool
}

// IsTold says whether someone would know what to mend.
func (t Telling) IsTold() bool { return len(t.Words) > 0 }

func words(of ...string) Telling { return Telling{Words: of} }

var (
	absent = Telling{IsAbsent: true}
	untold = Telling{}
)

// LeastTold are how many of its real hangs an MPI's reports have to tell at least, and of how many.
var LeastTold = map[string][2]int{"Open MPI": {19, 21}, "MPICH": {15, 19}}

// RealHangs are all of them. The distribution's MPICH is stripped, and neither spawns nor opens ports.
var RealHangs = []RealHang{
	alike("a lock that is not unlocked", "onesided", "held", 2, `rank 1 waits for rank 0: `, `lock of rank 0 in window "ghost cells"`),
	{"a post to another than starts", "onesided", "other-group", 3,
		words(`rank 1 waits for rank 2: post in window "ghost cells"`),
		words(`rank 0 waits for rank 1: end of its accesses in window "ghost cells"`)},
	alike("a fence against a barrier", "onesided", "fence", 2, "they wait for each other to enter the same one"),
	alike("MPI_Iallreduce not entered", "nonblocking", "iallreduce", 3, "which rank 2 has not entered"),
	alike("MPI_Ibarrier crossed by a receive", "nonblocking", "icross", 2, "which rank 0 has not entered"),
	alike("MPI_File_write_all not entered", "files", "closes", 3, "Rank 2 is in MPI_File_close", "there is the mistake"),
	alike("MPI_Neighbor_alltoall not entered", "nonblocking", "neighbour", 3,
		`rank 0 waits for rank 2: the library's receive from rank 2, on "circle", in MPI_Neighbor_alltoall`),
	alike("MPI_Bcast with other roots", "collective", "roots", 3, "they have not all given the same root"),
	alike("MPI_Comm_split not entered", "hangs", "split", 3, "Rank 2 has not entered MPI_Comm_split"),
	{"a child that never calls MPI_Init", "ends", "spawn-never", 2, words("has also started sleep", "has not called MPI_Init"), absent},
	{"a child and its parent", "ends", "spawn-ring", 2, untold, absent},
	{"MPI_Comm_accept without a connect", "ends", "accept", 2, words("nobody has connected to its port yet"), absent},
	{"MPI_Mprobe for another tag", "ends", "mprobe", 2, words("with tag 7 on MPI_COMM_WORLD, but the one that has come from rank 1 has tag 8"), untold},
	alike("a ring of MPI_Sendrecv with other tags", "hangs", "ring-tags", 3, "with tag 8 on MPI_COMM_WORLD, but the one that has come from rank 2 has tag 7"),
	alike("MPI_Finalize against MPI_Recv", "mistake", "left", 3, "but rank 2 is now in MPI_Finalize"),
	alike("threads that all wait, and main for them", "hangs", "join", 2, "rank 0 waits for rank 1: receive from rank 1, tag"),
	{"MPI_Intercomm_create with other tags", "ends", "intercomm-tags", 4, words("with tag 11 on MPI_COMM_WORLD, but the one that has come from rank 2 has tag 12"), untold},
	alike("MPI_File_open not entered", "hangs", "open", 3, "Rank 2 has not entered MPI_File_open"),
	alike("MPI_Win_free not entered", "onesided", "free-missing", 2, `rank 0 waits for rank 1: MPI_Win_free on window "ghost cells"`),
	alike("MPI_Allreduce, MPI_Barrier and MPI_Comm_dup", "hangs", "mixed", 3, "The members of MPI_COMM_WORLD are in different collective calls"),
	alike("a persistent send that is not started", "ends", "inactive", 2, "has made a persistent send for it that is not started"),
	{"a partition that is never ready", "hangs", "partition", 3, absent, untold},
}

// alike is a hang of which the reports of all MPIs say the same.
func alike(name, program, mode string, ranks int, told ...string) RealHang {
	return RealHang{name, program, mode, ranks, words(told...), words(told...)}
}

// Of is what an MPI's report says of the hang.
func (h *RealHang) Of(mpi string) Telling {
	if mpi == "MPICH" {
		return h.MPICH
	}
	return h.OpenMPI
}
