package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// shellCommands is the help of the program and of each of its commands, but for what cobra adds
// to every program.
func shellCommands() (string, error) {
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
}

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
func shellHelp(command ...string) (string, error) {
	run := exec.Command("go", slices.Concat([]string{"run", "./cmd/mpi-queues"}, command, []string{"--help"})...)
	run.Dir = root
	out, err := run.Output()
	if err != nil {
		return "", because(err)
	}
	return string(out), nil
}
