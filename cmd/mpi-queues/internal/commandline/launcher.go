package commandline

import (
	"bytes"
	"context"
	"debug/elf"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// syntax is how a launcher reads its command line.
type syntax struct {
	// arguments is how many words that follow it belong to an option; false if it is not known.
	arguments func(option string) (int, bool)
	// separator stands between the programs of a job that has several.
	separator string
	// list is an option with which a file has the programs.
	list string
}

// maxLauncher is how much of a launcher's file is looked at, in bytes.
const maxLauncher = 64 << 20

// syntaxOf returns how a launcher's command line reads, nil if the launcher is no such one: Open MPI's
// and PRRTE's have a setting for what is wanted here.
func syntaxOf(ctx context.Context, path string) *syntax {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxLauncher))
	if err != nil || !bytes.HasPrefix(text, []byte("\x7fELF")) {
		return nil
	}
	switch {
	case bytes.Contains(text, []byte("hydra_pmi_proxy")): // what MPICH's mpiexec starts on each host
		return &syntax{hydra, ":", "-configfile"}
	case bytes.Contains(text, []byte("SLURM_STEP_")) && bytes.Contains(text, []byte("srun")):
		help, err := helpOf(ctx, path)
		if err != nil {
			return nil
		}
		return &syntax{srun(help), ":", "--multi-prog"}
	}
	return nil
}

// usesMPI says whether a program needs an MPI library, which launchers do not: those of Open MPI and
// MPICH are called libmpi.so.40, libmpich.so.12 and the like.
func usesMPI(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	libraries, _ := f.ImportedLibraries()
	return slices.ContainsFunc(libraries, func(name string) bool { return strings.HasPrefix(name, "libmpi") })
}

// hydra says how many arguments an option of MPICH's mpiexec has (src/pm/hydra/lib/pmiserv_common and
// mpiexec/options.c of 4.0 to 5.0; its help does not tell for all of them).
func hydra(option string) (int, bool) {
	name := strings.TrimLeft(option, "-")
	if strings.ContainsRune(name, '=') {
		return 0, true
	}
	switch name {
	case "genv", "env":
		return 2, true
	case "genvnone", "genvall", "envnone", "envall", "enable-x", "disable-x", "verbose", "v", "debug", "info", "version", "help", "h",
		"print-all-exitcodes", "profile", "prepend-rank", "l", "disable-auto-cleanup", "disable-hostname-propagation", "hybrid-hosts",
		"pmi-port", "skip-launch-node", "print-rank-map", "enable-auto-cleanup":
		return 0, true
	}
	return 1, true
}

// helpLacks are the options of srun of which its help (Slurm 24.11) is silent, or does not say that
// they have an argument: it leaves out those of plugins that are not there.
var helpLacks = map[string]int{
	"accel-bind": 1, "container": 1, "container-id": 1, "cpu-bind": 1, "external-launcher": 0, "extra": 1, "hint": 1,
	"mem-bind": 1, "msg-timeout": 1, "network": 1, "ntasks-per-gpu": 1, "ntasks-per-tres": 1, "open-mode": 1,
	"prefer": 1, "segment": 1, "stepmgr": 0, "test-only": 0, "treewidth": 1, "whole": 0, "x11": 0,
}

// inWord stands for an argument that an option may have, in the same word.
const inWord = -1

// srun says how many arguments an option of Slurm's srun has, by the help that it gives: in
// "-n, --ntasks=ntasks" the option has one, in "--export[=env]" it may have one, which then is in the
// same word.
func srun(help string) func(option string) (int, bool) {
	long, short := map[string]int{}, map[byte]int{}
	for line := range strings.Lines(help) {
		line = strings.TrimSpace(line)
		names := line
		if i := strings.Index(line, "  "); i >= 0 {
			names = line[:i]
		}
		count, letter := 0, byte(0)
		for _, name := range strings.Split(names, ", ") {
			switch {
			case strings.HasPrefix(name, "--"):
				name, _, has := strings.Cut(name[2:], "=")
				name, isOptional := strings.CutSuffix(name, "[")
				switch {
				case isOptional:
					count = inWord
				case has:
					count = 1
				default:
					count = 0
				}
				name, _, _ = strings.Cut(name, " ")
				long[name] = max(count, 0)
			case len(name) >= 2 && name[0] == '-':
				letter = name[1]
			}
		}
		if letter != 0 {
			short[letter] = count
		}
	}
	maps.Copy(long, helpLacks)
	return func(option string) (int, bool) {
		if name, isLong := strings.CutPrefix(option, "--"); isLong {
			if strings.ContainsRune(name, '=') {
				return 0, true
			}
			n, known := long[name]
			return n, known
		}
		for i := 1; i < len(option); i++ {
			n, known := short[option[i]]
			if !known {
				return 0, false
			}
			switch {
			case n == inWord:
				return 0, true
			case n > 0: // the rest of the word is its argument, else the next word
				if i+1 < len(option) {
					n = 0
				}
				return n, true
			}
		}
		return 0, true
	}
}

// helpOf is what a launcher says of its options.
func helpOf(ctx context.Context, path string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, path, "--help").Output()
	return string(out), err
}

// find returns the path of a launcher as a shell finds it, whose links are followed.
func find(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	return path
}
