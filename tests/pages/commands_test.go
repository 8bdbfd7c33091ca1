package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// command is what a page tells its reader to type.
type command struct {
	page, text string
	// gdb is true of one for gdb, else it is for a shell.
	gdb bool
}

// commands returns those of a page: the lines of its blocks of code, or where some of these lines
// have a prompt, these; and `code' in its text.
func commands(name, page string) []command {
	text, blocks := parts(written(page))
	var all []command
	for _, block := range blocks {
		lines := slices.Collect(strings.Lines(block))
		prompted := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "(gdb) ") || strings.HasPrefix(l, "$ ") })
		output := prompted && !strings.HasPrefix(lines[0], "gdb ")
		for _, line := range lines {
			line = strings.TrimSpace(line)
			gdb, isGDB := strings.CutPrefix(line, "(gdb) ")
			shell, isShell := strings.CutPrefix(line, "$ ")
			switch {
			case isGDB:
				all = append(all, command{name, gdb, true})
			case isShell || !output:
				all = append(all, command{name, shell, false})
			}
		}
	}
	for _, code := range inline.FindAllString(text, -1) {
		code = strings.TrimPrefix(strings.Trim(code, "`"), "(gdb) ")
		// Both gdb and the shell have a command `mpi-queues': the one in gdb has options with one dash.
		gdb := regexp.MustCompile(`^(mpi-(attach|detach|deadlock|comms|windows|files|handle|ranks?|apply|print|stacks|run|continue|interrupt|step|next|until)|info mpi|(set|show) mpi-queues|mpi-queues -\w)`).MatchString(code)
		all = append(all, command{name, code, gdb})
	}
	return all
}

// TestCommands: the commands, options and settings of mpi-queues that pages name exist, and so do
// the files that commands of a checkout use.
func TestCommands(t *testing.T) {
	gdbHelp, err := gdbCommands()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := gdbSettings()
	if err != nil {
		t.Fatal(err)
	}
	shell, err := shellCommands()
	if err != nil {
		t.Fatal(err)
	}
	known := checker{help(gdbHelp), help(settings), help(shell), runParts(t)}
	checked := 0
	for name, page := range readPages(t) {
		for _, c := range commands(name, page) {
			wrong, applies := known.check(c)
			if wrong != "" {
				t.Errorf("%s: `%s': %s", c.page, c.text, wrong)
			}
			if applies {
				checked++
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands of the pages were recognised", checked)
	}
}

// help is the content of a section that is made of headings and help texts: the texts by heading.
func help(content string) map[string]string {
	texts := map[string]string{}
	for _, match := range regexp.MustCompile("(?s)#+ `([^`]+)`\n\n```text\n(.*?)```").FindAllStringSubmatch(content, -1) {
		texts[match[1]] = match[2]
	}
	return texts
}

// runParts returns the first arguments that tests/run takes: the runs of its usage, and its parts.
func runParts(t *testing.T) []string {
	t.Helper()
	usage := regexp.MustCompile(`usage: tests/run \[(.+)\]`).FindStringSubmatch(read(t, "tests/run"))
	if usage == nil {
		t.Fatal("tests/run has no usage")
	}
	parts := strings.Split(usage[1], "|")
	list := exec.Command("go", "run", "./tests/runner", "list")
	list.Dir = root
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		parts = append(parts, strings.Fields(line)[0])
	}
	return parts
}

// checker knows the help texts of gdb's commands, of gdb's settings and of the shell's commands,
// and the arguments of tests/run.
type checker struct {
	gdb, settings, shell map[string]string
	run                  []string
}

var (
	ofMPI       = regexp.MustCompile(`(?:^|[('"]|&& )(mpi-queues|\./tests/run|go (?:run|build|test|generate))((?: [^|)';&]+)?)`)
	substituted = regexp.MustCompile(`\$\((?:hostname|pgrep[^)]*)\)`) // their options are not ours
	ofSettings  = regexp.MustCompile(`^(?:set|show) mpi-queues(?: ([a-z-]+))?`)
	ofGDB       = regexp.MustCompile(`^(mpi-\w+|info mpi)(.*)`)
)

// check says what is wrong with a command, if it is one that the checker knows anything of.
func (k checker) check(c command) (wrong string, applies bool) {
	if c.gdb {
		return k.checkGDB(c.text)
	}
	for _, match := range ofMPI.FindAllStringSubmatch(substituted.ReplaceAllString(c.text, ""), -1) {
		words := strings.Fields(match[2])
		applies = true
		switch match[1] {
		case "mpi-queues":
			wrong = k.checkShell(words)
		case "./tests/run":
			if len(words) > 0 && !slices.Contains(k.run, words[0]) {
				wrong = "tests/run has no part " + words[0]
			}
		default:
			wrong = checkGo(words)
		}
		if wrong != "" {
			return wrong, true
		}
	}
	return "", applies
}

func (k checker) checkGDB(text string) (wrong string, applies bool) {
	if match := ofSettings.FindStringSubmatch(text); match != nil {
		if _, ok := k.settings["set mpi-queues "+match[1]]; !ok && match[1] != "" {
			return "there is no such setting", true
		}
		return "", true
	}
	match := ofGDB.FindStringSubmatch(text)
	if match == nil {
		return "", false
	}
	text, ok := k.gdb[match[1]]
	if !ok {
		return "gdb has no such command", true
	}
	words := strings.Fields(match[2])
	if match[1] == "mpi-run" { // the rest is a launcher's
		words = words[:max(0, slices.IndexFunc(append(words, ""), func(word string) bool { return !strings.HasPrefix(word, "-") }))]
	}
	return lacking(text, words), true
}

func (k checker) checkShell(words []string) string {
	if len(words) == 0 || strings.HasPrefix(words[0], "[") || slices.Contains([]string{"--help", "--version", "completion", "help"}, words[0]) {
		return ""
	}
	text, ok := k.shell["mpi-queues "+words[0]]
	if !ok {
		return "the program has no command " + words[0]
	}
	return lacking(text, words[1:])
}

// lacking says which of the words, up to "--", is an option that a help text does not list.
func lacking(text string, words []string) string {
	for _, word := range words {
		if word == "--" {
			break
		}
		word = strings.Trim(word, "[],")
		listed := regexp.MustCompile(`(?m)^ +(-\w, )?` + regexp.QuoteMeta(word) + `([ ,]|$)`)
		if word != "-" && strings.HasPrefix(word, "-") && !listed.MatchString(text) {
			return "there is no option " + word
		}
	}
	return ""
}

// checkGo says which of the words is a package of this checkout that is not there.
func checkGo(words []string) string {
	for i, word := range words {
		if strings.HasPrefix(word, "./") && (i == 0 || words[i-1] != "-o") {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(word, "..."))); err != nil {
				return "there is no " + word
			}
		}
	}
	return ""
}
