package packaging

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// licences is the text of the licences of each module that a package is built of, and of Go itself. A module
// without one is an error: it can't be handed on.
func licences(pkg string) (string, error) {
	modules, err := modulesOf(pkg)
	if err != nil {
		return "", err
	}
	goroot, err := command("go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	modules = append([]module{{"The Go programming language", "", strings.TrimSpace(goroot)}}, modules...)
	var b strings.Builder
	b.WriteString("mpi-queues is built of these works of others, each under its own licence.\n")
	for _, m := range modules {
		texts, err := m.licence()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 72), strings.TrimSpace(m.name+" "+m.version))
		for _, text := range texts {
			fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("-", 72), strings.TrimSpace(text))
		}
	}
	return b.String(), nil
}

// module is one of Go's, in a folder.
type module struct{ name, version, folder string }

// modulesOf lists the modules whose packages are linked into a program for Linux, without its own.
func modulesOf(pkg string) ([]module, error) {
	out, err := command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", pkg)
	if err != nil {
		return nil, err
	}
	var all []module
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		all = append(all, module{fields[0], fields[1], fields[2]})
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.name, b.name) })
	all = slices.Compact(all)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s is built of no other modules, says `go list': there is nothing that can be right about it", pkg)
	}
	return all, nil
}

// licence is the text of each file of the module's folder that has terms.
func (m module) licence() ([]string, error) {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"},
			func(of string) bool { return strings.HasPrefix(name, of) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence of %s was found in %s: a package of mpi-queues has to have it", m.name, m.folder)
	}
	return texts, nil
}

// command is what a command has printed.
func command(name string, args ...string) (string, error) {
	run := exec.Command(name, args...)
	run.Env = append(os.Environ(), "GOOS=linux")
	out, err := run.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
