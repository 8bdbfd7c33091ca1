package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

// gdbCommands is the help of each command that the extension adds to gdb.
var gdbCommands = sync.OnceValues(func() (string, error) {
	return gdbHelp(`(?m)^(mpi-[a-z-]+|info mpi) -- `, "", "")
})

// gdbFunctions is the help of each convenience function that the extension adds to gdb.
var gdbFunctions = sync.OnceValues(func() (string, error) {
	return gdbHelp(`(?m)^function (mpi_[a-z_]+) -- `, "function ", "$")
})

// gdbLists are what gdb has of MPI, and the names of the extension's settings.
var gdbLists = sync.OnceValues(func() ([]string, error) { return gdb("apropos mpi", "help set mpi-queues") })

// gdbHelp is the help of what a pattern finds among all that gdb has of MPI: what is asked for has a prefix
// to its name, and so has the heading.
func gdbHelp(pattern, asked, heading string) (string, error) {
	names, err := gdbNames(0, regexp.MustCompile(pattern))
	if err != nil {
		return "", err
	}
	var commands []string
	for _, name := range names {
		commands = append(commands, "help "+asked+name)
	}
	texts, err := gdb(commands...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, name := range names {
		b.WriteString(block("####", heading+name, texts[i]))
	}
	return b.String(), nil
}

// gdbSettings is the help of each setting, and what `show' says of it in a gdb that has just
// been started.
var gdbSettings = sync.OnceValues(func() (string, error) {
	names, err := gdbNames(1, regexp.MustCompile(`(?m)^set mpi-queues ([a-z-]+) -- `))
	if err != nil {
		return "", err
	}
	var commands []string
	for _, name := range names {
		commands = append(commands, "help set mpi-queues "+name, "show mpi-queues "+name)
	}
	texts, err := gdb(commands...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, name := range names {
		b.WriteString(block("####", "set mpi-queues "+name, texts[2*i]+"\nBy default: "+texts[2*i+1]))
	}
	return b.String(), nil
})

// gdbNames returns what a pattern finds in one of gdb's lists.
func gdbNames(list int, pattern *regexp.Regexp) ([]string, error) {
	texts, err := gdbLists()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, match := range pattern.FindAllStringSubmatch(texts[list], -1) {
		names = append(names, match[1])
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("gdb lists nothing of the extension:\n%s", texts[list])
	}
	return names, nil
}

// gdb runs commands in a gdb with this checkout's extension, and returns what each has printed.
func gdb(commands ...string) ([]string, error) {
	const mark = "== next =="
	args := []string{"-nx", "-batch", "-ex", "source gdbinit"}
	for _, c := range commands {
		args = append(args, "-ex", "echo "+mark+`\n`, "-ex", c)
	}
	run := exec.Command("gdb", args...)
	run.Dir = root
	out, err := run.Output()
	if err != nil {
		return nil, because(err)
	}
	texts := strings.Split(string(out), mark+"\n")[1:]
	if len(texts) != len(commands) {
		return nil, fmt.Errorf("gdb ran %d of %d commands:\n%s", len(texts), len(commands), out)
	}
	return texts, nil
}

// because adds to the error of a program what it wrote to standard error.
func because(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}
