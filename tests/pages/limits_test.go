package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// limit is a sentence, and the tests that fail if it is false: each a folder and a test in Go, or a file and a test in Python.
type limit struct {
	sentence string
	tests    []string
}

// limits lists each sentence of the pages' sections "Limits". Whoever adds or changes one reads its tests first, and writes a
// test where there is none.
var limits = []limit{
	{"It was tried on x86-64.", []string{"tests/recordings TestMachines"}},
	{"Beside that, only programs for i386, core files of programs for PowerPC, and programs for aarch64 in an emulator were read.",
		[]string{"tests/recordings TestMachines"}},
	{"Messages over InfiniBand were not at hand.", []string{"tests/recordings TestNoInfiniBand"}},
	{"A stripped MPICH shows less than a stripped Open MPI.", []string{"tests/recordings TestStrippedMPICHShowsLess"}},
	{"Open MPI keeps nothing of a small send (up to 256 bytes in shared memory): the receiver shows it.",
		[]string{"tests/gdb TestSmallSends"}},
	{"Messages that a network card has taken over can't be read.", []string{"mqs/transport/ofi TestCXIUnexpected"}},
	{"A note says so.", []string{"mqs/transport/ofi TestCXIUnexpected", "tests/recordings TestLies"}},
	{"One gdb can attach to at most 64 ranks of a job if some of the ranks are on other machines.",
		[]string{"tests/python/test_nodes.py NodesTest.test_many"}},
	{"`mpi-run` starts ranks on other machines without a debugger.", []string{"tests/matrix TestApart", "tests/matrix TestSlurmApart"}},
}

// TestLimits checks that each sentence on limits has a row with tests that there are, and each row a sentence.
func TestLimits(t *testing.T) {
	files, err := testFiles()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for name, page := range readPages(t) {
		for _, sentence := range sentencesOn("Limits", page) {
			said[sentence] = true
			if !slices.ContainsFunc(limits, func(l limit) bool { return l.sentence == sentence }) {
				t.Errorf("%s: no test is named for the sentence %q: add it to limits", name, sentence)
			}
		}
	}
	for _, l := range limits {
		if !said[l.sentence] {
			t.Errorf("no page says %q", l.sentence)
		}
		if len(l.tests) == 0 {
			t.Errorf("no test would fail if this were false: %q", l.sentence)
		}
		for _, test := range l.tests {
			if !isTest(files, test) {
				t.Errorf("there is no test %s, which is to prove %q", test, l.sentence)
			}
		}
	}
}

// sentenceEnd is where a sentence ends in a paragraph.
var sentenceEnd = regexp.MustCompile(`([.!?]) +`)

// sentencesOn returns the sentences of a page's sections with a title, each on one line.
func sentencesOn(title, page string) (out []string) {
	text, _ := parts(page)
	inSection := false
	var paragraph []string
	end := func() {
		if joined := strings.Join(paragraph, " "); joined != "" {
			out = append(out, strings.Split(sentenceEnd.ReplaceAllString(joined, "$1\n"), "\n")...)
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		words := strings.Join(strings.Fields(line), " ")
		item, isItem := strings.CutPrefix(words, "- ")
		switch {
		case strings.HasPrefix(words, "#"):
			end()
			inSection = strings.TrimLeft(words, "# ") == title
		case !inSection:
		case isItem, words == "":
			end()
			paragraph = append(paragraph, strings.Fields(item)...)
		default:
			paragraph = append(paragraph, words)
		}
	}
	end()
	return out
}

// isTest reports whether a test that limits names is among the files of tests.
func isTest(files map[string]string, named string) bool {
	where, name, _ := strings.Cut(named, " ")
	if class, method, isPython := strings.Cut(name, "."); isPython {
		_, body, ok := strings.Cut(files[where], "\nclass "+class+"(")
		body, _, _ = strings.Cut(body, "\nclass ")
		return ok && strings.Contains(body, "\n    def "+method+"(")
	}
	for file, text := range files {
		if path.Dir(file) == where && strings.HasSuffix(file, "_test.go") && strings.Contains(text, "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
