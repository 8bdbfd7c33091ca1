package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shellCommands is the help of the program and of each of its commands, but for what cobra adds
// to every program.
var shellCommands = sync.OnceValues(func() (string, error) {
	names, err := subcommands()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range names {
		if name == "completion" || name == "help" {
			continue
		}
		help, err := shellHelp(name)
		if err != nil {
			return "", err
		}
		b.WriteString(block("###", "mpi-queues "+name, help))
	}
	return b.String(), nil
})

// subcommands are those that the program's help lists.
func subcommands() ([]string, error) {
	help, err := shellHelp()
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z-]+) `).FindAllStringSubmatch(list, -1) {
		names = append(names, match[1])
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("`mpi-queues --help' lists no commands:\n%s", help)
	}
	return slices.Sorted(slices.Values(names)), nil
}

// shellHelp is what the program prints for a command's --help.
func shellHelp(command ...string) (string, error) { return program(append(command, "--help")...) }

// program runs this checkout's mpi-queues in its root, and returns what it prints.
func program(args ...string) (string, error) {
	binary, err := built()
	if err != nil {
		return "", err
	}
	run := exec.Command(binary, args...)
	run.Dir = root
	out, err := run.Output()
	if err != nil {
		return "", because(err)
	}
	return string(out), nil
}

// built builds mpi-queues in a folder that removeBuilt removes.
var built = sync.OnceValues(func() (string, error) {
	var err error
	if builtIn, err = os.MkdirTemp("", "pages"); err != nil {
		return "", err
	}
	binary := filepath.Join(builtIn, "mpi-queues")
	build := exec.Command("go", "build", "-o", binary, "./cmd/mpi-queues")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
})

// builtIn is that folder, empty if nothing was built.
var builtIn string

func removeBuilt() {
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
}
