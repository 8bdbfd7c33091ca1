package bridge

// Methods that the debugger calls in the supervisor of a job that it has started.
const (
	// MethodRun has a supervisor start a job, and hold its ranks before their programs begin.
	MethodRun = "job/run"
	// MethodRelease has the launcher go on, and the ranks that wait with it for the debugger.
	MethodRelease = "job/release"
	// MethodLate asks for the processes of a job which was started so that came after the others.
	MethodLate = "job/late"
	// MethodWait waits for the end of a job that was started so.
	MethodWait = "job/wait"
	// MethodLeft is a notification: the debugger has let go of a rank, which runs on.
	MethodLeft = "job/left"
)

// RanksParams asks for the ranks of a job.
type RanksParams struct {
	// PID is the process id, on this machine, of its launcher or of one of its ranks.
	PID int `json:"pid"`
	// Far is true if the ranks on other machines are asked for too.
	Far bool `json:"far"`
	// Hosts are the other machines to ask, none if the job's launcher or Slurm is to tell them.
	Hosts []string `json:"hosts"`
	// Via is how they are reached, as for the shell's command report; empty for the job's own way.
	Via string `json:"via"`
	// Culprits is true if all ranks are to be looked at first, for [RanksResult.Culprits].
	Culprits bool `json:"culprits"`
}

// Rank is one process of a job.
type Rank struct {
	// Rank is its rank in MPI_COMM_WORLD, null if not known.
	Rank *int32 `json:"rank"`
	// PID is its process id on its host, 0 if not known.
	PID int `json:"pid"`
	// Host is the name of the host that it is on, empty for this machine.
	Host string `json:"host"`
	// Executable is the path of its program, or empty.
	Executable string `json:"executable"`
	// Exited is true if it has ended on this machine.
	Exited bool `json:"exited"`
	// ExitCode is the one that it has exited with, null if not known.
	ExitCode *int `json:"exit_code"`
	// Signal is the name of the signal that has ended it, or empty.
	Signal string `json:"signal"`
	// Obstacle is why the process is not to be attached to, as a clause, or empty:
	// another user's launcher says that it is a rank.
	Obstacle string `json:"obstacle"`
	// Image is the place of what it executes in [RanksResult.Images], null if that was not asked for.
	Image *int `json:"image"`
}

// Node is another machine that has ranks of a job.
type Node struct {
	// Host is its name.
	Host string `json:"host"`
	// Line is the shell's command line that connects a debugger with it.
	Line string `json:"line"`
	// Failure is why it can't be reached, as a clause, or empty.
	Failure string `json:"failure"`
}

// Image is what a process executes: a program with its libraries.
type Image struct {
	// BuildIDs are those of the files, in hex; empty for one that has none.
	BuildIDs []string `json:"build_ids"`
}

// RanksResult holds a job.
type RanksResult struct {
	// Launcher is the process id of its launcher or of the launcher's daemon on
	// this machine, 0 if not known.
	Launcher int `json:"launcher"`
	// Name is what that process's program is called, empty if not known.
	Name string `json:"name"`
	// Size is how many ranks the job has, null if not known.
	Size *int32 `json:"size"`
	// Ranks are those that are known.
	Ranks []Rank `json:"ranks"`
	// Self is the process id of the rank that was asked for, 0 if that was the launcher.
	Self int `json:"self"`
	// Aborting is why the launcher says that the job is being aborted, empty if it does not say why; null
	// if it does not say that.
	Aborting *string `json:"aborting"`
	// Others are processes on this machine that the launcher started beside
	// the job, as for MPI_Comm_spawn: other jobs.
	Others []int `json:"others"`
	// Nodes are the other machines that were asked for ranks.
	Nodes []Node `json:"nodes"`
	// Culprits are ranks of which one is of each place where ranks of the job are; null if that was not asked for.
	Culprits []int32 `json:"culprits"`
	// Images are what their ranks execute.
	Images []Image `json:"images"`
	// NotAsked is why other machines were not asked that have ranks, as a clause, or empty.
	NotAsked string `json:"not_asked"`
}

// RunParams asks for a job to be started. It is the one request of its kind that a supervisor takes.
type RunParams struct {
	// Command is the shell's command line that starts it.
	Command string `json:"command"`
	// Folder is where it is started, empty for the debugger's working folder. Its name need not be UTF-8.
	Folder []byte `json:"folder"`
	// Environment is what the job is started with: NAME=VALUE, each followed by a NUL, as in /proc/PID/environ.
	Environment []byte `json:"environment"`
	// Terminal is the path of what is its input and output, empty for those of the debugger.
	Terminal string `json:"terminal"`
	// Seconds is how long is waited for its ranks.
	Seconds int `json:"seconds"`
}

// RunResult says what became of the start of a job.
type RunResult struct {
	// Job has the ranks that wait to be attached to, each before the first instruction of its program.
	Job RanksResult `json:"job"`
	// Acquired is what the launcher says of ranks that have not come by themselves, but were told of by
	// it (MPIR); null if there are none. It waits until the debugger has attached to them.
	Acquired *Acquired `json:"acquired"`
	// IsTold is true if the launcher was told that a debugger is there (MPIR_being_debugged). Ranks are
	// to be told only then: those of Open MPI 4.1 wait in MPI_Init for what such a launcher says.
	IsTold bool `json:"told"`
	// Notes are sentences for the user: how the launcher was started, and which ranks have not come in time.
	Notes []string `json:"notes"`
	// End is how the launcher has ended, null if it runs.
	End *End `json:"end"`
}

// Acquired says how ranks are to be taken that a launcher has told of.
type Acquired struct {
	// ToMain is true if they are to be shown in main.
	ToMain bool `json:"to_main"`
}

// ReleaseParams says that the debugger has attached to the ranks, as far as it can.
type ReleaseParams struct{}

// ReleaseResult says that the launcher goes on.
type ReleaseResult struct{}

// End is how a process has ended.
type End struct {
	// Code is its exit code, null if a signal has killed it.
	Code *int `json:"code"`
	// Signal is the name of that signal, or empty.
	Signal string `json:"signal"`
}

// LateParams asks for processes that came late: spawned ones, and ranks that took long.
type LateParams struct{}

// LateResult says which have come since the last time.
type LateResult struct {
	// Jobs are theirs, with the ranks that wait to be attached to, as in [RunResult].
	Jobs []RanksResult `json:"jobs"`
}

// WaitParams asks for the end of the job's launcher.
type WaitParams struct {
	// Seconds is how long is waited.
	Seconds int `json:"seconds"`
}

// WaitResult says how the job's launcher has ended.
type WaitResult struct {
	// End is how, null if it runs.
	End *End `json:"end"`
}
