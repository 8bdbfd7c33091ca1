// Package commandline finds the programs in the command line of a launcher, which are its ranks', so that
// something can be put before them.
package commandline

import "strings"

// word is a word of a shell's command line.
type word struct {
	// text is what the shell makes of it, but for variables and patterns, which stay as they are.
	text string
	// start is where it stands in the line, in bytes.
	start int
}

// operators are the characters of which the shell's operators are made, beside white space.
const operators = "|&;<>()\n"

// words are those of the first simple command of a line, without redirections (POSIX.1-2017, Shell
// Command Language, 2.2 and 2.7). isSimple is false if there is more in the line.
func words(line string) (out []word, isSimple bool) {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			i++
		case c == '#':
			return out, true
		case c == '<' || c == '>' || c == '&' && i+1 < len(line) && line[i+1] == '>':
			// The operator, and the word that is its file.
			for i < len(line) && strings.IndexByte("<>&|", line[i]) >= 0 {
				i++
			}
			for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
				i++
			}
			_, i = scan(line, i)
		case strings.IndexByte(operators, c) >= 0:
			return out, false
		default:
			text, end := scan(line, i)
			// The number of a file that is redirected.
			if end == len(line) || line[end] != '<' && line[end] != '>' || strings.Trim(text, "0123456789") != "" {
				out = append(out, word{text, i})
			}
			i = end
		}
	}
	return out, true
}

// scan returns the word at an offset, without its quotes, and where it ends.
func scan(line string, i int) (string, int) {
	var text strings.Builder
	for ; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line):
			i++
			if line[i] != '\n' {
				text.WriteByte(line[i])
			}
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return text.String(), len(line) // the shell will say so
			}
			text.WriteString(line[i+1 : i+1+end])
			i += end + 1
		case c == '"':
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\\n", line[i+1]) >= 0 {
					i++
				}
				text.WriteByte(line[i])
			}
		case c == ' ' || c == '\t' || strings.IndexByte(operators, c) >= 0:
			return text.String(), i
		default:
			text.WriteByte(c)
		}
	}
	return text.String(), min(i, len(line))
}

// Replacing returns a line that has the shell replaced by its command, behind the variables that it sets.
func Replacing(line string) string {
	all, _ := words(line)
	for _, w := range all {
		if !isAssignment(w.text) {
			return line[:w.start] + "exec " + line[w.start:]
		}
	}
	return line
}

// isAssignment says whether a word sets a variable for the command that follows.
func isAssignment(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" && (name[0] < '0' || name[0] > '9')
}
