package main

import (
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The runs that parts belong to. What belongs to one belongs to the larger ones, too.
const (
	quick    = "quick"
	ordinary = "ordinary"
	ci       = "ci"
	full     = "full"
)

// runs are the runs, the smallest first.
var runs = []string{quick, ordinary, ci, full}

// part is a part of a run.
type part struct {
	name string
	does string
	// in is the smallest run that the part belongs to.
	in string
	// takesTurns is true of a part that ci runs only on some days.
	takesTurns bool
	// needs are the lists of packages to be installed.
	needs []packages
	// makes are commands that make what the part uses and keep it in the store. They run beside other parts.
	makes [][]string
	// commands are run one after the other, the later ones also if an earlier one fails.
	commands func(p *plan) [][]string
	// limit is for all commands together in a sample. It is far above the usual time, and below the limit of a job in CI. A part
	// that takes no samples has none.
	limit time.Duration
	// usual is how long the part takes on two processors, for the order in which parts start.
	usual time.Duration
	// dependsOn is what a change has to touch to affect the part. If it is nil, any change affects the part.
	dependsOn *inputs
}

// isIn reports whether the part belongs to a run.
func (p *part) isIn(run string) bool {
	for _, r := range runs {
		if r == p.in {
			return true
		}
		if r == run {
			return false
		}
	}
	return false
}

// always wraps commands that are the same in each run.
func always(commands ...[]string) func(*plan) [][]string {
	return func(*plan) [][]string { return commands }
}

// goTest returns a command that runs Go tests. Its limit is below that of the part, so that a test that hangs prints its stacks.
func goTest(limit time.Duration, args ...string) []string {
	return append([]string{"go", "test", "-vet=off", "-v", "-timeout", limit.String()}, args...)
}

// goTests wraps one such command.
func goTests(args ...string) func(*plan) [][]string {
	return func(p *plan) [][]string { return [][]string{goTest(p.limit(), args...)} }
}

// longGoTests wraps one such command of a part that takes no samples.
func longGoTests(args ...string) func(*plan) [][]string { return always(goTest(wholeTests, args...)) }

// jobs is how many live tests run side by side: jobs and debuggers wait for each other, so there are more of them than processors.
func jobs() string { return strconv.Itoa(2 * runtime.NumCPU()) }

// matrixPart is a part that tests/matrix/run does.
func matrixPart(words ...string) func(*plan) [][]string {
	return always(append([]string{"tests/matrix/run"}, words...))
}

var parts = []*part{
	{
		name: "unit", does: "Go's unit tests, with replays of all recordings and verdicts",
		in: quick, needs: []packages{ofGo}, limit: 12 * time.Minute, usual: 60 * time.Second,
		commands: unitTests,
	},
	{
		name: "extension", does: "the tests of the extension, in and around this machine's gdb",
		in: quick, needs: []packages{ofGo, ofExtension}, limit: 10 * time.Minute, usual: 60 * time.Second,
		commands: always([]string{"tests/python/run"}),
	},
	{
		name: "growth", does: "how the number of statements that run grows with the size of a job",
		in: ordinary, needs: []packages{ofGo}, limit: 10 * time.Minute, usual: 10 * time.Second,
		commands: goTests("./" + growth),
	},
	{
		name: "live", does: "real gdb on real jobs of this machine's Open MPI: a sample, in full all of it",
		in: ordinary, needs: []packages{ofGo, ofExtension, ofLive, ofShells}, limit: 14 * time.Minute, usual: 240 * time.Second,
		commands: liveTests,
	},
	{
		name: "lint", does: "linters of Go, Python, scripts and workflows, and builds for another system",
		in: ci, needs: []packages{ofGo, ofLint}, limit: 14 * time.Minute, usual: 150 * time.Second,
		commands: always([]string{"tests/lint"}),
	},
	{
		name: "race", does: "the race detector on the packages that have goroutines",
		in: ci, needs: []packages{ofGo}, limit: 12 * time.Minute, usual: 100 * time.Second,
		commands: goTests(append([]string{"-race", "-short"}, withGoroutines...)...),
	},
	{
		name: "vscode", does: "types, linters and unit tests of the extension for VS Code",
		in: ci, needs: []packages{ofGo, ofNode}, limit: 10 * time.Minute, usual: 60 * time.Second,
		commands:  always([]string{"tests/vscode/run"}),
		dependsOn: &inputs{files: []string{"cmd/vscode", "tests/vscode", "mqs/document"}},
	},
	{
		name: "browser", does: "the page of a report in Chromium",
		in: ci, needs: []packages{ofGo, ofChromium}, limit: 10 * time.Minute, usual: 30 * time.Second,
		commands:  goTests("-tags", "browser", "./tests/report/..."),
		dependsOn: &inputs{files: []string{"tests/report"}, packages: []string{"./mqs/render"}},
	},
	{
		name: "packages", does: "the .deb and the wheel, installed and used",
		in: ci, needs: []packages{ofGo, ofLive}, limit: 10 * time.Minute, usual: 60 * time.Second,
		commands: always([]string{"tests/packages/run"}),
		dependsOn: &inputs{
			files:    []string{"tests/packages", ".github/packaging", ".goreleaser.yaml", "gdbinit", "python/gdbinit", "LICENSE"},
			packages: []string{"./cmd/mpi-queues/internal/packaging", "./cmd/mpi-queues/internal/extension"},
		},
	},
	release("trixie", "gdb, Open MPI and MPICH of Debian 13, Slurm, and the .deb there"),
	release("forky", "gdb, Open MPI and MPICH of the next Debian, and MPI 5's ABI"),
	mpich("ch3-debug"), mpich("ch3"), mpich("ch4-debug"), mpich("ch4"), mpich("ch4-ucx"),
	{
		name: "stock", does: "Debian's stripped MPICH on this machine",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 200 * time.Second,
		commands: matrixPart("stock"), dependsOn: decoding,
	},
	{
		name: "ucx", does: "UCX built without assertions and with types, and random jobs over it",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 120 * time.Second,
		makes: [][]string{{"tests/ucx/build"}}, commands: matrixPart("ucx"), dependsOn: decoding,
	},
	{
		name: "wheels", does: "Open MPI, MPICH and Intel MPI as pip installs them",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 120 * time.Second,
		makes: [][]string{{"tests/wheels/fetch"}}, commands: matrixPart("wheels"), dependsOn: decoding,
	},
	{
		name: "cuda", does: "NVIDIA's cuda-gdb",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 100 * time.Second,
		makes: [][]string{{"tests/matrix/cuda-gdb", "bookworm"}}, commands: matrixPart("cuda"), dependsOn: debugging,
	},
	{
		name: "editor", does: "the extension in a real VS Code, with a gdb of a later release",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofNode, ofLive, ofBuilds, ofChromium}, limit: 14 * time.Minute, usual: 200 * time.Second,
		makes: [][]string{{"tests/vscode/browser/run", "make"}, {"tests/matrix/root", "trixie", "true"}}, commands: editorTests,
		dependsOn: &inputs{files: []string{"cmd/vscode", "tests/vscode", "python/mpi_queues"}},
	},
	{
		name: "tables", does: "the layout tables, made again of Debian's packages",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofTables, ofCross}, limit: 30 * time.Minute, usual: 60 * time.Second,
		commands: matrixPart("tables"),
		dependsOn: &inputs{
			files:    []string{"tests/tables"},
			packages: []string{"./mqs/layout/gen"},
		},
	},
	{
		name: "oracle", does: "random jobs of Open MPI, over shared memory and UCX; in full 2,000 of them",
		in: ci, takesTurns: true, needs: []packages{ofGo, ofExtension, ofLive}, limit: 14 * time.Minute, usual: 100 * time.Second,
		commands: matrixPart("oracle"), dependsOn: decoding,
	},
	{
		name: "suite", does: "MPICH's own test suite, sampled while it runs, and many made-up jobs",
		in: full, needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, usual: time.Hour,
		makes: [][]string{{"tests/mpich/build"}}, commands: func(*plan) [][]string {
			return [][]string{
				goTest(wholeTests, "-tags", "full", "-count=1", "-run", "TestAgainstManyPrograms", "./mqs/waitfor"),
				goTest(wholeTests, "-tags", "full", "-count=1", "./tests/suite/..."),
			}
		},
		dependsOn: decoding,
	},
	{
		name: "starts", does: "many starts of jobs under gdb",
		in: full, needs: []packages{ofGo, ofExtension, ofLive}, usual: 15 * time.Minute,
		commands: longGoTests("-tags", "live", "-count=1", "-run", "TestManyStarts|TestStartedLateRank", "./tests/gdb"),
	},
	{
		name: "guest", does: "an ordinary user on the distribution's kernel, under qemu",
		in: full, needs: []packages{ofGo, ofExtension, ofLive, ofGuest}, usual: 15 * time.Minute,
		commands: always([]string{"tests/guest/run"}),
	},
	{
		name: "fuzz", does: "each fuzz target for a minute, each page of recordings lost, and 100,000 seeds in gdb",
		in: full, needs: []packages{ofGo, ofExtension}, usual: time.Hour,
		commands: always([]string{"tests/fuzz"}),
	},
	{
		name: "faults", does: "all that can go wrong between gdb and the helper, at each step and with each message",
		in: full, needs: []packages{ofGo, ofExtension, ofLive}, usual: 30 * time.Minute,
		commands: longGoTests("-tags", "live", "-short", "-count=1", "-parallel", jobs(),
			"-run", "TestFaults|AtEachStep|TestStarvedHelper|TestNoDescriptors|TestManyDisplays|TestManyAttaches|TestKilledAtRandom|TestInterrupted", "./tests/gdb", "./cmd/mpi-queues"),
	},
	{
		name: "mutation", does: "how many changed operators of the decoders and of the analysis the unit tests notice",
		in: full, needs: []packages{ofGo}, usual: time.Hour,
		commands: longGoTests("-tags", "full", "-count=1", "./tests/mutation"),
	},
	{
		name: "bench", does: "the benchmark, which prints each figure beside its target",
		in: full, needs: []packages{ofGo, ofExtension, ofLive}, usual: 20 * time.Minute,
		commands: always([]string{"tests/bench/run"}),
	},
}

// growth is a package whose tests compile most of the project a second time, to count statements. That takes too long for quick.
const growth = "tests/growth"

// unitTests returns the command for the tests of all packages except growth.
func unitTests(p *plan) [][]string {
	text, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		return [][]string{{"go", "list", "./..."}} // it fails again, with its error in the log
	}
	names := slices.DeleteFunc(strings.Fields(string(text)), func(name string) bool { return strings.HasSuffix(name, "/"+growth) })
	return [][]string{goTest(p.limit(), names...)}
}

// release is the part of another release of Debian.
func release(suite, does string) *part {
	return &part{
		name: suite, does: does, in: ci, takesTurns: true,
		needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 280 * time.Second,
		makes: [][]string{{"tests/matrix/root", suite, "true"}}, commands: matrixPart(suite),
		dependsOn: debugging,
	}
}

// mpich is the part of a build of MPICH.
func mpich(variant string) *part {
	return &part{
		name: "mpich-" + variant, does: "MPICH with types: " + variant + " (tests/mpich/build)", in: ci, takesTurns: true,
		needs: []packages{ofGo, ofExtension, ofLive, ofBuilds}, limit: 14 * time.Minute, usual: 240 * time.Second,
		makes: [][]string{{"tests/mpich/build", variant}}, commands: matrixPart("mpich", variant), dependsOn: decoding,
	}
}

// editorTests drive VS Code with the gdb of one release, in full of each.
func editorTests(p *plan) [][]string {
	suites := []string{"trixie", "forky"}
	if !p.isWhole {
		suites = suites[:1]
	}
	var commands [][]string
	for _, suite := range suites {
		commands = append(commands, []string{"tests/vscode/browser/run", suite})
	}
	return commands
}

// withGoroutines are the packages in which the race detector can find something. mqs/dll is also tested without it: it does
// not see into the processes that those tests start.
var withGoroutines = []string{
	"./bridge/...", "./mqs/dll/...", "./mqs/document", "./mqs/inferior", "./mqs/launch/...", "./mqs/procmem", "./mqs/read",
	"./cmd/mpi-queues/internal/...",
}
