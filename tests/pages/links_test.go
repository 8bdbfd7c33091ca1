package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inline  = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	noLabel = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// labels are those that a link to a page can name: its headings', as GitHub makes them.
func labels(page string) map[string]bool {
	text, _ := parts(page)
	all := map[string]bool{"": true}
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(noLabel.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")] = true
	}
	return all
}

// TestLinks: each link within the repository leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	pages, links := readPages(t), 0
	for name, page := range pages {
		text, _ := parts(page)
		for _, match := range link.FindAllStringSubmatch(inline.ReplaceAllString(text, "code"), -1) {
			target := match[1]
			if strings.Contains(target, "://") {
				continue
			}
			links++
			file, label, _ := strings.Cut(target, "#")
			to := filepath.Join(filepath.Dir(name), file)
			if file == "" {
				to = name
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s: the link %s leads to no file", name, target)
			} else if text, ok := pages[to]; label != "" && (!ok || !labels(text)[label]) {
				t.Errorf("%s: the link %s leads to no heading of %s", name, target, to)
			}
		}
	}
	if links == 0 {
		t.Error("the pages have no links")
	}
}

// named is a path from the root of the repository. What stands after a slash is part of another.
var named = regexp.MustCompile(`(?:^|[^\w/.~@-])((?:\./)?(?:\.ci|\.github|bridge|cmd|mqs|python|tests)/[\w./*-]*[\w*])`)

// TestPaths: each path that a page names is in the tree, or is one that git ignores, since it is
// built there. A path may have the wildcards of the shell.
func TestPaths(t *testing.T) {
	paths := 0
	for name, page := range readPages(t) {
		for _, match := range named.FindAllStringSubmatch(page, -1) {
			paths++
			found, err := filepath.Glob(filepath.Join(root, match[1]))
			if built := exec.Command("git", "-C", root, "check-ignore", "-q", match[1]); (err != nil || len(found) == 0) && built.Run() != nil {
				t.Errorf("%s: there is no %s", name, match[1])
			}
		}
	}
	if paths == 0 {
		t.Error("the pages name no paths")
	}
}

// fileName is the name of a source file without its folder.
var fileName = regexp.MustCompile("`([\\w.-]+\\.(?:c|go|md|py|toml|yaml))`")

// TestFileNames: each source file that a page names without its folder is somewhere in the tree.
func TestFileNames(t *testing.T) {
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		all[filepath.Base(path)] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for name, page := range readPages(t) {
		text, _ := parts(page)
		for _, match := range fileName.FindAllStringSubmatch(text, -1) {
			names++
			if !all[match[1]] {
				t.Errorf("%s: there is no file %s", name, match[1])
			}
		}
	}
	if names == 0 {
		t.Error("the pages name no files")
	}
}

// testName is the name of a test in Go.
var testName = regexp.MustCompile("`(Test[A-Z]\\w*)`")

// TestTestNames: each test in Go that a page names is there.
func TestTestNames(t *testing.T) {
	tests, names := goTests(t), 0
	for name, page := range readPages(t) {
		for _, match := range testName.FindAllStringSubmatch(page, -1) {
			names++
			if !tests[match[1]] {
				t.Errorf("%s: there is no %s", name, match[1])
			}
		}
	}
	if names == 0 {
		t.Error("the pages name no tests")
	}
}
