package main

import (
	"cmp"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// quoted is `code' or a link to [code] in a comment.
var quoted = regexp.MustCompile("[`\\[]([\\w./ -]+)['\\]]")

// packages lists the packages of the module, each with the first sentence of its comment.
func packages() (string, error) {
	comments, err := packageComments()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range comments {
		// "Package x does" becomes "x does".
		does := strings.TrimPrefix(strings.TrimPrefix(c.sentence, "Package "), "Command ")
		_, does, _ = strings.Cut(does, " ")
		fmt.Fprintf(&b, "- `%s` %s\n", c.folder, quoted.ReplaceAllString(does, "`$1`"))
	}
	return b.String(), nil
}

// comment is the first sentence of a package's comment.
type comment struct{ folder, sentence string }

// packageComments returns those of all packages that have one, whatever their build tags, in the
// order of their folders.
func packageComments() ([]comment, error) {
	var all []comment
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil || parsed.Doc == nil {
			return err
		}
		folder, err := filepath.Rel(root, path.Dir(file))
		if err != nil {
			return err
		}
		sentence := new(doc.Package).Synopsis(parsed.Doc.Text())
		if last := len(all) - 1; last < 0 || all[last].folder != folder { // else it is that of another system
			all = append(all, comment{folder, cmp.Or(sentence, "has an empty comment.")})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b comment) int { return cmp.Compare(a.folder, b.folder) })
	return all, err
}

// docstring is the first line of a Python module's.
var docstring = regexp.MustCompile(`(?m)^"""(.*?)("""|$)`)

// modules lists the modules of gdb's extension, each with the first line of its docstring.
func modules() (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "python/mpi_queues/*.py"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		match := docstring.FindSubmatch(source)
		switch {
		case filepath.Base(file) == "__init__.py":
		case match == nil:
			return "", fmt.Errorf("%s has no docstring", file)
		default:
			fmt.Fprintf(&b, "- `%s`: %s\n", filepath.Base(file), quoted.ReplaceAll(match[1], []byte("`$1`")))
		}
	}
	return b.String(), nil
}
