# Generated from bridge/protocol.go, jobs.go and callbacks.go by bridge/pygen. Do not edit.
"""The protocol between the debugger's extension and the helper."""

from __future__ import annotations

from typing import Dict, List, Optional, TypedDict

# ProtocolVersion is what both ends must agree on in Initialize. It changes whenever a message
# changes in a way that an older end would misread.
PROTOCOL_VERSION = 6
# MethodInitialize must be the first request on a connection.
METHOD_INITIALIZE = "initialize"
# MethodQueues reads and renders the message queues of processes.
METHOD_QUEUES = "queues"
# MethodDescribe says what was detected in a process, without reading its queues.
METHOD_DESCRIBE = "describe"
# MethodRanks finds the ranks of the job that a process belongs to.
METHOD_RANKS = "ranks"
# MethodDeadlock reads processes and says which of them wait for whom.
METHOD_DEADLOCK = "deadlock"
# MethodHandle shows what a handle of the program stands for.
METHOD_HANDLE = "handle"
# MethodHandles says what several handles stand for, each in a line and its parts.
METHOD_HANDLES = "handles"
# MethodFindCommunicator looks for a communicator's handle by its name.
METHOD_FIND_COMMUNICATOR = "communicator/find"
# MethodRank asks for the rank of one process.
METHOD_RANK = "rank"
# MethodPlaces shows where the ranks of a job are.
METHOD_PLACES = "places"
# MethodValues puts together what an expression is in the ranks of a job.
METHOD_VALUES = "values"
# MethodStacks puts together the stacks of the ranks of a job.
METHOD_STACKS = "stacks"
# MethodStatus says what the debugger does by itself: a helper that has started it waits for
# that.
METHOD_STATUS = "status"
# MethodNext says which process is to be read next, and that nothing more comes of the one
# before.
METHOD_NEXT = "next"
# MethodExited is a notification: a process has ended or is not debugged any more.
METHOD_EXITED = "exited"
# MethodCancel is a notification: give up a request.
METHOD_CANCEL = "cancel"
# MethodReadMemory reads several ranges of one process.
METHOD_READ_MEMORY = "memory/read"
# MethodFindSymbols looks up several global symbols of one process.
METHOD_FIND_SYMBOLS = "symbols/find"
# MethodFindTypes looks up several C types and their fields in one process.
METHOD_FIND_TYPES = "types/find"
# MethodListThreads asks where the threads of one process are.
METHOD_LIST_THREADS = "threads/list"
# MethodWrite hands over a piece of the answer for the debugger to show or store.
METHOD_WRITE = "output/write"
# MethodProgress is a notification: how far a long request has come.
METHOD_PROGRESS = "progress"
# CodeUnreadable means that nothing can be shown for this process; the message is a sentence for
# its user.
CODE_UNREADABLE = 1
# CodeCancelled means that the request ended because it was cancelled.
CODE_CANCELLED = 2
# CodeVersion means that the two ends speak different versions of the protocol.
CODE_VERSION = 3
# CodeUsage means that the request itself was wrong (an unknown communicator, say); the message
# is a sentence.
CODE_USAGE = 4
# MethodRun has a supervisor start a job, and hold its ranks before their programs begin.
METHOD_RUN = "job/run"
# MethodRelease has the launcher go on, and the ranks that wait with it for the debugger.
METHOD_RELEASE = "job/release"
# MethodLate asks for the processes of a job which was started so that came after the others.
METHOD_LATE = "job/late"
# MethodWait waits for the end of a job that was started so.
METHOD_WAIT = "job/wait"
# MethodLeft is a notification: the debugger has let go of a rank, which runs on.
METHOD_LEFT = "job/left"


class InitializeParams(TypedDict):
    """InitializeParams introduces the debugger to the helper."""

    # Protocol is the extension's ProtocolVersion.
    protocol: int
    # Extension is the extension's own version.
    extension: str
    # Debugger names the debugger and its version, for the log and for recordings.
    debugger: str


class InitializeResult(TypedDict):
    """InitializeResult introduces the helper to the debugger."""

    # Protocol is the helper's ProtocolVersion.
    protocol: int
    # Version is the helper's own version.
    version: str
    # Window is memory that both ends can use, or null where the system has none.
    window: Optional[Window]


class Window(TypedDict):
    """Window is a memory file of the helper's for bulk bytes: what would travel as base64
    inside a message stands at its start instead, valid until the reply. An end that can't
    open it says so by putting the bytes into the message.
    """

    # Path names the file for the debugger to open.
    path: str
    # Size is the file's length in bytes; it never changes.
    size: int


class Signal(TypedDict):
    """Signal is one that ends a process."""

    # Name is the system's: "SIGSEGV".
    name: str
    # Code says why it was sent (si_code of siginfo_t, sigaction(2)), null if not known.
    code: Optional[int]
    # Own is true if the process has sent it to itself, null if not known or if no process has sent
    # it.
    own: Optional[bool]
    # Handled is true if the program has a handler for it or ignores it, null if not known.
    handled: Optional[bool]
    # Thread is the debugger's number for the thread that got it, 0 if not known.
    thread: int


class Process(TypedDict):
    """Process is one process as the debugger knows it."""

    # Inferior is the debugger's number for it.
    inferior: int
    # PID is its process id, 0 where there is none (some core files).
    pid: int
    # Kind is "live", "core" or "remote".
    kind: str
    # Rank is its rank in MPI_COMM_WORLD as its launcher says, null if not known.
    rank: Optional[int]
    # State is the letter that the kernel had for its state before it was attached to (proc(5),
    # /proc/PID/stat), empty if not known or if it has run since.
    state: str
    # Signal is the one that ends it, or null.
    signal: Optional[Signal]
    # Executable is the path of its program, or empty.
    executable: str
    # Libraries are the paths of its shared libraries, in the debugger's order.
    libraries: List[str]
    # Architecture is the debugger's name for it, such as "i386:x86-64".
    architecture: str
    # PointerSize is the width of a pointer in bytes: 4 or 8.
    pointer_size: int
    # BigEndian is true if the most significant byte comes first.
    big_endian: bool


class Obstacle(TypedDict):
    """Obstacle is a process that was asked for and can't be read."""

    # Inferior is the debugger's number for it.
    inferior: int
    # PID is its process id.
    pid: int
    # Executable is the path of its program, or empty.
    executable: str
    # Rank is as in Process.
    rank: Optional[int]
    # Reason is the sentence that says why.
    reason: str


class CancelParams(TypedDict):
    """CancelParams names a request to give up, which may not have arrived yet."""

    # ID is the request's JSON-RPC id.
    id: int


class ExitedParams(TypedDict):
    """ExitedParams names a process that has gone."""

    # Inferior is the debugger's number for it.
    inferior: int
    # PID is its process id.
    pid: int


class Source(TypedDict):
    """Source says where queues may be read from."""

    # Choice is "auto", "native", "dll" or "both".
    choice: str
    # DLL is the path of the vendor's DLL to use; empty means to find it.
    dll: str
    # SafePath are folders whose DLLs are trusted.
    safe_path: List[str]
    # Timeout is how many seconds a DLL may take for one thing; 0 means no limit.
    timeout: int
    # Starters are the debugger's processes beside those of the request. One of all these may have
    # started the job and know where the DLL is.
    starters: List[Process]
    # Launchers are the process ids, on this machine, of the launchers of those processes that are
    # on other machines.
    launchers: List[int]


class QueuesParams(TypedDict):
    """QueuesParams asks for the message queues of some processes."""

    # Processes to read, in the order of their inferiors, which they are shown in.
    processes: List[Process]
    # Obstacles are shown among them, by their inferiors' numbers.
    obstacles: List[Obstacle]
    # Source says where queues may be read from.
    source: Source
    # View is what is shown of what was read: "queues", "communicators", "windows" or "files". JSON
    # has all of them.
    view: str
    # Comm restricts to communicators of this name or unique id; empty means all.
    comm: str
    # CommHandle is the value of Comm as an expression, which counts where no communicator has the
    # name. Null if it has none.
    comm_handle: Optional[HandleValue]
    # CommInferior is the process that has that value.
    comm_inferior: int
    # Queue restricts to "sends", "receives" or "unexpected"; empty means all three.
    queue: str
    # Internal shows the MPI library's own communicators and traffic too.
    internal: bool
    # Members names the members of each communicator in text.
    members: bool
    # AllCommunicators keeps communicators without pending operations in their place in text.
    all_communicators: bool
    # Limit is the largest number of operations to show for a queue; 0 means no limit.
    limit: int
    # Format is "text" or "json".
    format: str
    # Styled marks up text with ANSI escapes.
    styled: bool
    # Record asks for a recording of all that was read, on the stream "recording".
    record: bool
    # Handles are in variables of the processes. A recording has what they stand for, too.
    handles: List[ProcessHandles]
    # Window is true if the debugger has opened the window's file.
    window: bool


class DeadlockParams(TypedDict):
    """DeadlockParams asks which of some processes wait for whom."""

    # Processes to read.
    processes: List[Process]
    # Obstacles are processes of which is known only that they are there.
    obstacles: List[Obstacle]
    # Absent are ranks of the same jobs that the debugger has no process of.
    absent: List[Rank]
    # Source is as in QueuesParams.
    source: Source
    # Format is "text", "json" or "svg".
    format: str
    # Styled is as in QueuesParams.
    styled: bool
    # Window is as in QueuesParams.
    window: bool


class HandleValue(TypedDict):
    """HandleValue is a handle as the program has it."""

    # Kind is its type: "comm", "datatype", "request", "group", "win", "status", "op", "errhandler",
    # "file", "info", "message" or "session".
    kind: str
    # Fortran is true for the INTEGER of MPI's Fortran bindings, which the mpi_f08 types hold too.
    fortran: bool
    # Value is its bits: an address, or a number of 32 bits. It is the address of an MPI_Status, 0
    # if that is in no memory.
    value: int
    # Data are the bytes of an MPI_Status, else empty.
    data: Optional[str]


class ProcessHandles(TypedDict):
    """ProcessHandles are handles of one process."""

    # Inferior is the debugger's number for the process.
    inferior: int
    # Handles are what its variables hold.
    handles: List[HandleValue]


class HandleParams(TypedDict):
    """HandleParams asks what one handle stands for."""

    # Process that has it.
    process: Process
    # Handle to look at.
    handle: HandleValue
    # Format is "text" or "json".
    format: str
    # Styled is as in QueuesParams.
    styled: bool
    # Window is as in QueuesParams.
    window: bool


class HandlesParams(TypedDict):
    """HandlesParams asks what handles stand for. Nothing is asked of the threads of their
    process.
    """

    # Process that has them.
    process: Process
    # Handles to look at.
    handles: List[HandleValue]
    # Window is as in QueuesParams.
    window: bool


class Part(TypedDict):
    """Part is a part of what a handle stands for."""

    # Name of the part, in a word or two.
    name: str
    # Text is its value.
    text: str


class HandleText(TypedDict):
    """HandleText says what a handle stands for."""

    # Summary is one line, as MPI_COMM "halo exchange" (rank 2 of 8). It is empty if nothing is
    # known.
    summary: str
    # Parts follow the line.
    parts: List[Part]
    # Rank is this process's, in the object that the handle stands for; null if there is none or it
    # is not known.
    rank: Optional[int]
    # Size is that of the object's group.
    size: Optional[int]


class HandlesResult(TypedDict):
    """HandlesResult has an entry for each handle."""

    # Handles in the order of the request.
    handles: List[HandleText]
    # Cost is what the request took, as in Result.
    cost: Result


class FindCommunicatorParams(TypedDict):
    """FindCommunicatorParams asks for a communicator's handle."""

    # Process to look in.
    process: Process
    # Name is the communicator's, or its unique id.
    name: str
    # Window is as in QueuesParams.
    window: bool


class FindCommunicatorResult(TypedDict):
    """FindCommunicatorResult is a communicator's handle."""

    # Handle is the value of the MPI_Comm, null if the library does not say.
    handle: Optional[int]


class RankParams(TypedDict):
    """RankParams asks for the rank of a process."""

    # Process that is asked for.
    process: Process
    # Window is as in QueuesParams.
    window: bool


class RankResult(TypedDict):
    """RankResult is the rank of a process in MPI_COMM_WORLD. Of one that has not called
    MPI_Init, or that uses sessions alone, it is the one that the launcher gave it.
    """

    # Rank of the process, null if not known.
    rank: Optional[int]
    # Size of MPI_COMM_WORLD, null if not known.
    size: Optional[int]
    # Initialized is true if the process's MPI library has said both, which then stay as they are.
    initialized: bool


class Place(TypedDict):
    """Place is what the debugger knows of a rank, or of a process whose rank is not known."""

    # Rank is its rank in MPI_COMM_WORLD, null if not known.
    rank: Optional[int]
    # Inferior is the debugger's number for it, 0 if the debugger does not have it.
    inferior: int
    # PID is its process id, 0 if not known.
    pid: int
    # Host is as in Rank.
    host: str
    # State is "stopped", "running", "core", "exited" or "not attached".
    state: str
    # Reason is why it is in that state, in a few words, or empty.
    reason: str
    # ExitCode is the one that it has exited with, null if not known.
    exit_code: Optional[int]
    # Thread is the debugger's number of the thread whose place is wanted, 0 for the first one.
    thread: int
    # Selected is true of the current inferior.
    selected: bool
    # Unplaced is why a stopped process is not among the request's, as a sentence, or empty.
    unplaced: str


class PlacesParams(TypedDict):
    """PlacesParams asks where the ranks of a job are."""

    # Places are the ranks in the order in which they are shown.
    places: List[Place]
    # Processes are those of the ranks that can be read.
    processes: List[Process]
    # Format is "text" or "json".
    format: str
    # Styled is as in QueuesParams.
    styled: bool
    # Window is as in QueuesParams.
    window: bool


class Evaluation(TypedDict):
    """Evaluation is what an expression is in one process."""

    # Rank is the process's in MPI_COMM_WORLD, null if not known.
    rank: Optional[int]
    # Inferior is the debugger's number for it.
    inferior: int
    # Text is the value as the debugger shows it.
    text: str
    # Number is the value in decimal, "nan" and "inf" among them, or empty if it is no number.
    number: str
    # Failure is why there is no value, empty if there is one.
    failure: str


class ValuesParams(TypedDict):
    """ValuesParams has what an expression is in processes."""

    # Expression that was evaluated.
    expression: str
    # Function is the one in whose frames that was done, empty for any frame.
    function: str
    # Evaluations are those of the processes, by their ranks.
    evaluations: List[Evaluation]
    # Format is "text" or "json".
    format: str
    # Styled is as in QueuesParams.
    styled: bool
    # Window is as in QueuesParams.
    window: bool


class StacksParams(TypedDict):
    """StacksParams asks for the stacks of processes."""

    # Processes to read.
    processes: List[Process]
    # Unread are processes that can't be read, and why, as a clause.
    unread: List[Obstacle]
    # Threads asks for all threads, and not for the first one of each process alone.
    threads: bool
    # Internal asks for the frames inside MPI calls too.
    internal: bool
    # Format is "text" or "json".
    format: str
    # Styled is as in QueuesParams.
    styled: bool
    # Window is as in QueuesParams.
    window: bool


class DescribeParams(TypedDict):
    """DescribeParams asks what was detected in one process."""

    # Process to look at.
    process: Process
    # Source is as in QueuesParams.
    source: Source
    # Window is as in QueuesParams.
    window: bool


class StatusParams(TypedDict):
    """StatusParams says how far the debugger has come by itself, or why it goes no further."""

    # Message is what it does, in a few words; empty if it does nothing more.
    message: str
    # Attached is true if it has attached to all processes that it was to attach to.
    attached: bool
    # Failure is why it goes no further, in its own words; empty if it goes on.
    failure: str


class StatusResult(TypedDict):
    """StatusResult says that the debugger may go on."""


class NextParams(TypedDict):
    """NextParams asks for a process."""


class NextResult(TypedDict):
    """NextResult is a process to read."""

    # PID is its process id, 0 if there is none left.
    pid: int


class Result(TypedDict):
    """Result ends a request. What there is to show has been handed over by MethodWrite before
    it.
    """

    # RoundTrips is how many call-backs the request took, MethodWrite not counted.
    round_trips: int
    # BytesRead is how many bytes of memory they brought.
    bytes_read: int
    # Seconds from the request's arrival to this result.
    seconds: float


class RanksParams(TypedDict):
    """RanksParams asks for the ranks of a job."""

    # PID is the process id, on this machine, of its launcher or of one of its ranks.
    pid: int
    # Far is true if the ranks on other machines are asked for too.
    far: bool
    # Hosts are the other machines to ask, none if the job's launcher or Slurm is to tell them.
    hosts: List[str]
    # Via is how they are reached, as for the shell's command report; empty for the job's own way.
    via: str
    # Culprits is true if all ranks are to be looked at first, for RanksResult.Culprits.
    culprits: bool


class Rank(TypedDict):
    """Rank is one process of a job."""

    # Rank is its rank in MPI_COMM_WORLD, null if not known.
    rank: Optional[int]
    # PID is its process id on its host, 0 if not known.
    pid: int
    # Host is the name of the host that it is on, empty for this machine.
    host: str
    # Executable is the path of its program, or empty.
    executable: str
    # Exited is true if it has ended on this machine.
    exited: bool
    # ExitCode is the one that it has exited with, null if not known.
    exit_code: Optional[int]
    # Signal is the name of the signal that has ended it, or empty.
    signal: str
    # Obstacle is why the process is not to be attached to, as a clause, or empty: another user's
    # launcher says that it is a rank.
    obstacle: str
    # Image is the place of what it executes in RanksResult.Images, null if that was not asked for.
    image: Optional[int]


class Node(TypedDict):
    """Node is another machine that has ranks of a job."""

    # Host is its name.
    host: str
    # Line is the shell's command line that connects a debugger with it.
    line: str
    # Failure is why it can't be reached, as a clause, or empty.
    failure: str


class Image(TypedDict):
    """Image is what a process executes: a program with its libraries."""

    # BuildIDs are those of the files, in hex; empty for one that has none.
    build_ids: List[str]


class RanksResult(TypedDict):
    """RanksResult holds a job."""

    # Launcher is the process id of its launcher or of the launcher's daemon on this machine, 0 if
    # not known.
    launcher: int
    # Name is what that process's program is called, empty if not known.
    name: str
    # Size is how many ranks the job has, null if not known.
    size: Optional[int]
    # Ranks are those that are known.
    ranks: List[Rank]
    # Self is the process id of the rank that was asked for, 0 if that was the launcher.
    self: int
    # Aborting is why the launcher says that the job is being aborted, empty if it does not say why;
    # null if it does not say that.
    aborting: Optional[str]
    # Others are processes on this machine that the launcher started beside the job, as for
    # MPI_Comm_spawn: other jobs.
    others: List[int]
    # Nodes are the other machines that were asked for ranks.
    nodes: List[Node]
    # Culprits are ranks of which one is of each place where ranks of the job are; null if that was
    # not asked for.
    culprits: List[int]
    # Images are what their ranks execute.
    images: List[Image]
    # NotAsked is why other machines were not asked that have ranks, as a clause, or empty.
    not_asked: str


class RunParams(TypedDict):
    """RunParams asks for a job to be started. It is the one request of its kind that a
    supervisor takes.
    """

    # Command is the shell's command line that starts it.
    command: str
    # Folder is where it is started, empty for the debugger's working folder. Its name need not be
    # UTF-8.
    folder: Optional[str]
    # Environment is what the job is started with: NAME=VALUE, each followed by a NUL, as in
    # /proc/PID/environ.
    environment: Optional[str]
    # Terminal is the path of what is its input and output, empty for those of the debugger.
    terminal: str
    # Seconds is how long is waited for its ranks.
    seconds: int


class RunResult(TypedDict):
    """RunResult says what became of the start of a job."""

    # Job has the ranks that wait to be attached to, each before the first instruction of its
    # program.
    job: RanksResult
    # Acquired is what the launcher says of ranks that have not come by themselves, but were told of
    # by it (MPIR); null if there are none. It waits until the debugger has attached to them.
    acquired: Optional[Acquired]
    # IsTold is true if the launcher was told that a debugger is there (MPIR_being_debugged). Ranks
    # are to be told only then: those of Open MPI 4.1 wait in MPI_Init for what such a launcher
    # says.
    told: bool
    # Notes are sentences for the user: how the launcher was started, and which ranks have not come
    # in time.
    notes: List[str]
    # End is how the launcher has ended, null if it runs.
    end: Optional[End]


class Acquired(TypedDict):
    """Acquired says how ranks are to be taken that a launcher has told of."""

    # ToMain is true if they are to be shown in main.
    to_main: bool


class ReleaseParams(TypedDict):
    """ReleaseParams says that the debugger has attached to the ranks, as far as it can."""


class ReleaseResult(TypedDict):
    """ReleaseResult says that the launcher goes on."""


class End(TypedDict):
    """End is how a process has ended."""

    # Code is its exit code, null if a signal has killed it.
    code: Optional[int]
    # Signal is the name of that signal, or empty.
    signal: str


class LateParams(TypedDict):
    """LateParams asks for processes that came late: spawned ones, and ranks that took long."""


class LateResult(TypedDict):
    """LateResult says which have come since the last time."""

    # Jobs are theirs, with the ranks that wait to be attached to, as in RunResult.
    jobs: List[RanksResult]


class WaitParams(TypedDict):
    """WaitParams asks for the end of the job's launcher."""

    # Seconds is how long is waited.
    seconds: int


class WaitResult(TypedDict):
    """WaitResult says how the job's launcher has ended."""

    # End is how, null if it runs.
    end: Optional[End]


class MemoryRange(TypedDict):
    """MemoryRange is a piece of a process's address space."""

    # Address of its first byte. It is a number, as an inferior.Addr that Go sends is not.
    address: int
    # Length in bytes.
    length: int


class ReadMemoryParams(TypedDict):
    """ReadMemoryParams asks for memory."""

    # Inferior is the process to read.
    inferior: int
    # Ranges to read; together at most the window's size, where there is a window.
    ranges: List[MemoryRange]


class ReadMemoryResult(TypedDict):
    """ReadMemoryResult holds what could be read."""

    # Readable says for each range how many bytes from its start could be read.
    readable: List[int]
    # Data is the readable bytes of all ranges, one after the other, as base64; null when they stand
    # at the start of the window.
    data: Optional[str]


class FindSymbolsParams(TypedDict):
    """FindSymbolsParams asks where global symbols are."""

    # Inferior is the process to look in.
    inferior: int
    # Names to look up.
    names: List[str]


class Symbol(TypedDict):
    """Symbol is where a global symbol is."""

    # Addr is its address.
    address: int
    # Object is the path of the library or program it is in, empty if not known.
    object: str


class FindSymbolsResult(TypedDict):
    """FindSymbolsResult holds what was found."""

    # Symbols has an entry for each name, null for one that there is not.
    symbols: List[Optional[Symbol]]


class TypeQuery(TypedDict):
    """TypeQuery asks for one C type."""

    # Name is that of a typedef, of one of C's own types, or of a struct, union or enum without the
    # keyword.
    name: str
    # Fields are paths of members, with dots between levels ("req_status.MPI_TAG").
    fields: List[str]


class FindTypesParams(TypedDict):
    """FindTypesParams asks for the layout of C types."""

    # Inferior is the process to look in.
    inferior: int
    # Types to look up.
    types: List[TypeQuery]


class Field(TypedDict):
    """Field is where a member stands in its type."""

    # Offset in bytes from the start of the type.
    offset: int
    # Size in bytes.
    size: int
    # Kind is "signed", "unsigned", "pointer", "float", "array" or "struct" (unions too).
    kind: str


class Type(TypedDict):
    """Type is the layout of a C type."""

    # Size in bytes.
    size: int
    # Object is the path of the library or program that describes it, empty if not known.
    object: str
    # Fields are its members by the paths that were asked for. One that it has not is absent.
    fields: Dict[str, Field]


class FindTypesResult(TypedDict):
    """FindTypesResult holds what was found."""

    # Types has an entry for each query, null for a type that is not known or not complete.
    types: List[Optional[Type]]


class ListThreadsParams(TypedDict):
    """ListThreadsParams asks for the innermost frames of all threads."""

    # Inferior is the process to look in.
    inferior: int
    # Depth is how many frames of each thread are wanted at most.
    depth: int
    # Variables are the names of those arguments of functions that are wanted.
    variables: List[str]


class Frame(TypedDict):
    """Frame is one frame of a thread's stack."""

    # Function is the name of the function, empty if not known.
    function: str
    # StackPointer is the value of the stack pointer in this frame.
    stack_pointer: int
    # Object is the path of the library that the function is in, empty if it is in the program.
    object: str
    # File is the source file that it is in, as the debugger names it, empty if not known.
    file: str
    # Line is the line of its call of the next inner frame, or where it stands; 0 if not known.
    line: int
    # Variables are those arguments of the function that were asked for and can be read, by their
    # names: the value of an integer, an enumerator or a bool, or the address that a pointer holds,
    # in 64 bits.
    variables: Dict[str, int]
    # Kept are the values of the registers that a function has to keep for its caller, always in the
    # same order, 0 where one is not known. Only the frames of an MPI call and the one that has
    # called it have them.
    kept: List[int]


class LockHolder(TypedDict):
    """LockHolder is a process that holds the lock of a file."""

    # PID is its number, 0 if that is not known.
    pid: int
    # Name is the name of its program, empty if not known.
    name: str


class SystemCall(TypedDict):
    """SystemCall is what a thread has asked the kernel for."""

    # Number is the kernel's for the architecture, -1 if the thread is in none.
    number: int
    # Arguments are the six that a system call can have.
    arguments: List[int]
    # File is what the descriptor stands for that its first argument may be, as the kernel names it;
    # empty if there is none or that is not known.
    file: str
    # LockHolders are the processes that hold the lock of a file for which the call waits; none if
    # it waits for no such lock, or nobody is known to hold it.
    lock_holders: List[LockHolder]


class Thread(TypedDict):
    """Thread is where one thread is."""

    # Number is the debugger's number for it.
    number: int
    # ID is the kernel's number for it, 0 if not known.
    id: int
    # SystemCall is what it has asked the kernel for, null if not known.
    system_call: Optional[SystemCall]
    # Frames from the innermost outwards, as far as they can be found out.
    frames: List[Frame]
    # Complete is true if the last of them is the outermost frame of the thread.
    complete: bool
    # Registers are the values of the integer registers in the innermost frame.
    registers: List[int]


class ListThreadsResult(TypedDict):
    """ListThreadsResult holds all threads of the process."""

    # Threads in the debugger's order.
    threads: List[Thread]


class WriteParams(TypedDict):
    """WriteParams is a piece of the answer."""

    # Stream is "display" for what a user sees, "recording" for a recording's bytes.
    stream: str
    # Length is how many bytes at the start of the window; 0 when Data holds them.
    length: int
    # Data is the bytes as base64 where there is no window, else null.
    data: Optional[str]
    # Last is true for the piece that makes the stream whole even if the request fails, as a
    # recording is. Else it is whole if the request succeeds.
    last: bool


class ProgressParams(TypedDict):
    """ProgressParams says how far a request has come."""

    # Message is what is being done, in a few words.
    message: str
