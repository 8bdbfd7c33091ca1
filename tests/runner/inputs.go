package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tried "github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// inputs is what can affect a part, beside what can affect all of them.
type inputs struct {
	// files are files, and folders with all that is in them.
	files []string
	// packages are Go packages, with all packages of the project that they import.
	packages []string
}

// toAll affects each part: the runner, the test kits, and the modules.
var toAll = []string{"go.mod", "go.sum", "tests/run", "tests/functions.sh", "tests/runner", "tests/internal", ".ci"}

// decoding is what can affect how the queues of an MPI are read, and what is concluded from them.
var decoding = &inputs{
	files: []string{"tests/mpich", "tests/ucx", "tests/wheels", "tests/matrix", "tests/oracle", "tests/suite", "tests/programs"},
	packages: []string{
		"./mqs/decoders", "./mqs/callstack", "./mqs/waitfor", "./mqs/inferior", "./mqs/layout", "./mqs/dll", "./mqs/launch",
	},
}

// debugging is what can affect how the product works in another release of gdb, or with another release's MPIs.
var debugging = &inputs{
	files: append([]string{"python", "tests/python", "tests/gdb", "tests/dap"}, decoding.files...),
	packages: append([]string{
		"./bridge", "./cmd/mpi-queues/internal/helper", "./cmd/mpi-queues/internal/gdbrun", "./cmd/mpi-queues/internal/supervisor",
	}, decoding.packages...),
}

// tree is the files of the checkout: those that git tracks, and those that it would add.
type tree struct {
	paths []string
	// hasGo are the folders that have Go files of their own.
	hasGo map[string]bool
}

// readTree lists the checkout's files.
func readTree() (*tree, error) {
	text, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	paths := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	return newTree(paths), nil
}

func newTree(paths []string) *tree {
	// A run in whole changes the kept results, which must not make it start again.
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == tried.KeptFile })
	slices.Sort(paths)
	t := &tree{slices.Compact(paths), map[string]bool{}}
	for _, path := range t.paths {
		if strings.HasSuffix(path, ".go") {
			t.hasGo[filepath.Dir(path)] = true
		}
	}
	return t
}

// packageOf returns the folder of the Go package that a file belongs to: the nearest one with Go files. Tables and what tests
// read are in folders below it.
func (t *tree) packageOf(path string) string {
	dir := filepath.Dir(path)
	for dir != "." && !t.hasGo[dir] {
		dir = filepath.Dir(dir)
	}
	return dir
}

// key returns a hash of the contents of all files that can affect a part; of the whole checkout if in is nil.
func (t *tree) key(in *inputs) (string, error) {
	isInput := func(string) bool { return true }
	if in != nil {
		folders, err := foldersOf(in.packages)
		if err != nil {
			return "", err
		}
		roots := slices.Concat(toAll, in.files)
		isInput = func(path string) bool { return isBelow(path, roots) || slices.Contains(folders, t.packageOf(path)) }
	}
	sum := sha256.New()
	for _, path := range t.paths {
		if !isInput(path) {
			continue
		}
		content, err := contentOf(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %x\n", path, sha256.Sum256(content))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// contentOf returns a file's content, or where a link leads. A file that has been removed and is still in git's index has none.
func contentOf(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return []byte(to), err
	case info.IsDir(): // a module of git's
		return nil, nil
	}
	return os.ReadFile(path)
}

// isBelow reports whether a path is one of the roots or in one of them.
func isBelow(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") })
}

// foldersOf returns the folders of packages and of all packages of the project that they import.
func foldersOf(patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{if .Module.Main}}{{.Dir}}{{end}}{{end}}"}, patterns...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range bytes.Lines(text) {
		if dir := strings.TrimSpace(string(line)); dir != "" {
			path, err := filepath.Rel(root, dir)
			if err != nil {
				return nil, err
			}
			out = append(out, path)
		}
	}
	return out, nil
}
