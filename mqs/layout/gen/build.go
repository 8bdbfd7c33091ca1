package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// errNotThere means that the distribution's archive has not, or no longer, what a recipe needs.
var errNotThere = errors.New("the archive does not have it")

// statusNotThere is the status of the program that fetches packages, for [errNotThere].
const statusNotThere = 3

// workshop is where object files are made.
type workshop struct {
	cache string // folder that keeps them
	// fetch is a program that unpacks packages:
	//
	//	fetch FOLDER SUITE SOURCE=VERSION PACKAGE...
	//
	// the source as FOLDER/source, and the other packages together as FOLDER/packages. In its environment
	// ARCHITECTURE says of which machine these are to be, if of another one.
	fetch string
	// progress is told of what takes minutes.
	progress io.Writer
}

// machine is one that recipes are for: what gdb calls it, and its compiler here.
type machine struct{ name, compiler string }

// machines are this one, and others as Debian calls them.
var machines = map[string]machine{"": {"", "gcc"}, "arm64": {"aarch64", "aarch64-linux-gnu-gcc"}}

// objects returns the paths of the object files that a recipe gives, one for each combination of its options. What a
// recipe has given is kept under its hash.
func (w *workshop) objects(r *recipe) ([]string, error) {
	folder := filepath.Join(w.cache, "layout-"+r.name+"-"+r.hash()[:12])
	var out []string
	for _, with := range r.combinations() {
		out = append(out, filepath.Join(folder, objectName(with)))
	}
	if !slices.ContainsFunc(out, func(path string) bool { _, err := os.Stat(path); return err != nil }) {
		return out, nil
	}
	fmt.Fprintf(w.progress, "%s: fetching and preparing its packages\n", r.name)
	if err := os.MkdirAll(w.cache, 0o777); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp(w.cache, "layout-"+r.name+"-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := w.compile(r, work); err != nil {
		return nil, err
	}
	// It takes its name last, so that half of it is not taken for the whole. Another run may have
	// been faster.
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	for _, path := range out {
		if err := os.Rename(filepath.Join(work, filepath.Base(path)), path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// objectName is the name of the object file of a combination of options.
func objectName(with []string) string {
	return strings.Join(append([]string{"types"}, with...), "-") + ".o"
}

// compile makes the recipe's object files in a folder that is empty.
func (w *workshop) compile(r *recipe, work string) error {
	to, isKnown := machines[r.Architecture]
	if !isKnown {
		return fmt.Errorf("no compiler for %s is known", r.Architecture)
	}
	err := run(work, []string{"ARCHITECTURE=" + r.Architecture}, w.fetch, append([]string{work, r.Suite, r.Source}, r.Packages...)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == statusNotThere {
		return fmt.Errorf("%s of %s: %w", r.Source, r.Suite, errNotThere)
	}
	if err != nil {
		return err
	}
	source, packages := filepath.Join(work, "source"), filepath.Join(work, "packages")
	where := []string{"SOURCE=" + source, "PACKAGES=" + packages}
	for _, command := range r.Prepare {
		if err := run(source, where, "sh", "-ec", command); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(work, "types.c"), []byte(r.code), 0o666); err != nil {
		return err
	}
	expand := func(text string) string {
		return os.Expand(text, func(name string) string { return map[string]string{"SOURCE": source, "PACKAGES": packages}[name] })
	}
	for _, with := range r.combinations() {
		flags := []string{"-g", "-fno-eliminate-unused-debug-types", "-c", "-o", filepath.Join(work, objectName(with))}
		if with != nil {
			folder, err := r.writeConfiguration(expand(r.Configuration), work, with)
			if err != nil {
				return err
			}
			flags = append(flags, "-I"+folder)
		}
		for _, f := range r.Flags {
			flags = append(flags, expand(f))
		}
		if err := run(source, nil, to.compiler, append(flags, filepath.Join(work, "types.c"))...); err != nil {
			return err
		}
	}
	return nil
}

// writeConfiguration writes the configuration's header with some of the options into a new folder, and returns that folder.
func (r *recipe) writeConfiguration(path, work string, with []string) (string, error) {
	header, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text, err := r.configure(string(header), with)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(work, "configuration-")
	if err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, filepath.Base(path)), []byte(text), 0o666)
}

// run runs a program in a folder, with more in its environment. Its output is a part of its error.
func run(folder string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	const enough = 4000
	if len(out) > enough {
		out = out[len(out)-enough:]
	}
	return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
}
