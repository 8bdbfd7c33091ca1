// Command pages writes the parts of the pages in .github that the program itself tells: the help
// texts of gdb's commands and settings and of the shell's commands, the lists of packages and of the
// extension's modules, the table of what was tried, and the index of the tests.
//
//	go generate ./tests/pages
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/section"
	"github.com/mpi-queues/mpi-queues/tests/internal/survey"
)

//go:generate go run .

// root is the repository's folder, as seen from this package's.
const root = "../.."

// generated lists the sections: the page of each, its name, and what makes its content.
var generated = []struct {
	page, name string
	content    func() (string, error)
}{
	{".github/USAGE.md", "gdb's commands", gdbCommands},
	{".github/USAGE.md", "gdb's functions", gdbFunctions},
	{".github/USAGE.md", "gdb's settings", gdbSettings},
	{".github/USAGE.md", "the shell's commands", shellCommands},
	{".github/SUPPORT.md", "matrix", kept(result.Table)},
	{".github/SUPPORT.md", "parts", kept(result.Parts)},
	{".github/SUPPORT.md", "installs", installs},
	{".github/TESTS.md", "index", index},
	{".github/ARCHITECTURE.md", "packages", packages},
	{".github/ARCHITECTURE.md", "modules", modules},
}

func main() {
	fresh, err := pages()
	removeBuilt()
	for page, text := range fresh {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, page), []byte(text), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/pages:", err)
		os.Exit(1)
	}
}

// pages returns the pages that have generated sections, as they should be.
func pages() (map[string]string, error) {
	fresh := map[string]string{}
	for _, g := range generated {
		if fresh[g.page] == "" {
			text, err := os.ReadFile(filepath.Join(root, g.page))
			if err != nil {
				return nil, err
			}
			fresh[g.page] = string(text)
		}
		content, err := g.content()
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", g.page, g.name, err)
		}
		if fresh[g.page], err = section.Put(fresh[g.page], g.name, content); err != nil {
			return nil, fmt.Errorf("%s: %w", g.page, err)
		}
	}
	return fresh, nil
}

// kept returns a function that renders the results of the last complete runs as a table.
func kept(table func([]result.Result) string) func() (string, error) {
	return func() (string, error) {
		results, err := result.Kept(filepath.Join(root, result.KeptFile))
		if err != nil {
			return "", err
		}
		return table(results), nil
	}
}

// installs renders the list of the installs that people have.
func installs() (string, error) {
	all, err := survey.Load(filepath.Join(root, survey.File))
	if err != nil {
		return "", err
	}
	return survey.Table(all), nil
}

// block is a heading and, below it, text as a program prints it.
func block(level, heading, text string) string {
	return fmt.Sprintf("%s `%s`\n\n```text\n%s```\n\n", level, heading, text)
}
