// Package layers holds the linter's rules on what packages may import against the packages that there are.
package layers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// matches says whether the patterns of a rule, each from the configuration's folder on, cover the files of a
// package. "**" stands for any folders, "*" for the name of a file.
func matches(patterns []string, folder string) bool {
	for _, p := range patterns {
		end, isTree := strings.CutSuffix(strings.TrimPrefix(p, "${config-path}/"), "/**")
		end, isFolder := strings.CutSuffix(end, "/*.go")
		if isFolder && folder == end || isTree && strings.HasPrefix(folder+"/", end+"/") {
			return true
		}
	}
	return false
}

// Every package of the product has a list of what it may import, and every list a package.
func TestEveryPackageHasAList(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "./bridge/...", "./cmd/...", "./mqs/...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^        (\w+):\n +files: \[(.*)\]\n +list-mode: strict$`).FindAllStringSubmatch(string(text), -1) {
		for _, p := range strings.Split(m[2], ", ") {
			if p = strings.Trim(p, `"`); p != "!$test" {
				rules[m[1]] = append(rules[m[1]], p)
			}
		}
	}
	used := map[string]bool{"oracle": true} // it is about the tests' own
	for _, dir := range strings.Fields(string(out)) {
		folder, err := filepath.Rel(top, dir)
		if err != nil {
			t.Fatal(err)
		}
		hasList := false
		for name, patterns := range rules {
			if matches(patterns, filepath.ToSlash(folder)) {
				hasList, used[name] = true, true
			}
		}
		if !hasList {
			t.Errorf("%s may import anything: .golangci.yaml has no list for it", folder)
		}
	}
	for name := range rules {
		if !used[name] {
			t.Errorf("the list %s of .golangci.yaml is of no package", name)
		}
	}
}
