package mutation

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is what `go list' says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// list returns packages and all that they are built of.
func list(root string, patterns ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, patterns...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// module is the path of the project's module.
const module = "github.com/mpi-queues/mpi-queues"

// overlay writes the packages of the project whose paths begin with one of some names, with all their mutants, into a folder.
// It returns what `go build -overlay' wants.
func overlay(root, folder string, names []string) (path string, mutants []mutant, _ error) {
	var patterns []string
	for _, name := range names {
		patterns = append(patterns, "./"+name+"/...")
	}
	all, err := list(root, patterns...)
	if err != nil {
		return "", nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	runtime := filepath.Join(root, "mqs", "internal", "mutant", "mutant.go")
	code, err := filepath.Abs(filepath.Join("testdata", "mutant.go.txt"))
	if err != nil {
		return "", nil, err
	}
	replace := map[string]string{runtime: code}
	for _, p := range all {
		if !isNamed(p.ImportPath, names) || strings.HasSuffix(p.ImportPath, "test") || strings.HasSuffix(p.ImportPath, "/simulate") { // which are the tests'

			continue
		}
		fset := token.NewFileSet()
		lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
		sources, files, err := check(fset, importer.ForCompiler(fset, "gc", lookup), p)
		if err != nil {
			return "", nil, err
		}
		for i, s := range sources {
			s.name, _ = filepath.Rel(root, filepath.Join(p.Dir, p.GoFiles[i]))
			s.next = len(mutants)
			text, err := s.mutate(files[i], module+"/mqs/internal/mutant")
			if err != nil {
				return "", nil, err
			}
			if text == nil {
				continue
			}
			mutants = append(mutants, s.mutants...)
			to := filepath.Join(folder, strings.ReplaceAll(s.name, "/", "__"))
			if err := os.WriteFile(to, text, 0o600); err != nil {
				return "", nil, err
			}
			replace[filepath.Join(p.Dir, p.GoFiles[i])] = to
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, mutants, os.WriteFile(path, text, 0o600)
}

// isNamed says whether a package's path is one of some names in the project, or below one.
func isNamed(path string, names []string) bool {
	for _, name := range names {
		if path == module+"/"+name || strings.HasPrefix(path, module+"/"+name+"/") {
			return true
		}
	}
	return false
}

// check reads a package and finds the types of all that is in it.
func check(fset *token.FileSet, from types.Importer, p listed) (sources []*source, files []*ast.File, _ error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
		sources = append(sources, &source{fset: fset, info: info, text: text})
	}
	pack, err := (&types.Config{Importer: from}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sources {
		s.pack = pack
	}
	return sources, files, nil
}
