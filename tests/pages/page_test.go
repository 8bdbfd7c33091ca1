package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readPages returns the text of the README and of each page in .github, by its path.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".github/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = read(t, name)
	}
	if len(pages) < 2 {
		t.Fatalf("there are the pages %v only", pages)
	}
	return pages
}

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var generatedPart = regexp.MustCompile(`(?ms)^<!-- begin: .*?^<!-- end: .*?\n`)

// written is what people have written of a page: what programs write is left out.
func written(page string) string { return generatedPart.ReplaceAllString(page, "") }

// parts splits a page into text and blocks of code. In the text, `code` stays as it is.
func parts(page string) (text string, blocks []string) {
	var prose, block strings.Builder
	fenced, indented, blank := false, false, true
	end := func() {
		if block.Len() > 0 {
			blocks = append(blocks, block.String())
			block.Reset()
		}
	}
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(line, "```")
		indented = !fenced && strings.HasPrefix(line, "    ") && (blank || indented)
		switch {
		case fence:
			fenced = !fenced
			end()
		case fenced:
			block.WriteString(line)
		case indented:
			block.WriteString(line[4:])
		default:
			end()
			prose.WriteString(line)
		}
		blank = strings.TrimSpace(line) == ""
	}
	end()
	return prose.String(), blocks
}

func TestParts(t *testing.T) {
	const page = "# Title\n\n    one\n    two\n\ntext\n    is text\n```sh\nthree\n```\nand `code`\n"
	text, blocks := parts(page)
	if want := "# Title\n\n\ntext\n    is text\nand `code`\n"; text != want {
		t.Errorf("the text is %q", text)
	}
	if got := strings.Join(blocks, "|"); got != "one\ntwo\n|three\n" {
		t.Errorf("the blocks are %q", got)
	}
}
