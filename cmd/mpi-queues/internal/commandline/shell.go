package commandline

import (
	"fmt"
	"strings"
)

// Script is source text for a POSIX shell. A string that comes from outside (a process, a launcher's table, a node, a
// recording, a file's name) becomes part of one only through [Quote].
type Script string

// Quote returns words as a POSIX shell reads them (POSIX.1-2017, Shell Command Language, 2.2). It is for /bin/sh; a command
// line for a login shell is made by [Script.Anywhere]. A word with a NUL is quoted like any other, but no command line can
// contain it: the kernel refuses to execute the shell.
func Quote(words ...string) Script {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; word == "" || strings.Trim(word, plain) != "" {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return Script(strings.Join(quoted, " "))
}

// plain are the characters of words that need no quotes in any shell. zsh expands a word that begins with "=".
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_/,:@+"

// maxWord is the length of the words that a script is cut into, in bytes: csh takes 1024 at most.
const maxWord = 512

// Anywhere returns a command line that runs the script in sh, whatever shell parses the command line: ssh hands it to the
// user's login shell on the host, which may be csh, tcsh or fish. Their quotes differ from sh's. In csh, neither a newline nor
// an exclamation mark can be quoted at all; in fish, and in tcsh if backslash_quote is set, a backslash escapes a quote
// inside quotes. So the characters that shells disagree on, quotes and all that is not ASCII text, are sent as octal
// numbers, which sh decodes.
func (s Script) Anywhere() Script {
	if s != "" && strings.Trim(string(s), plain+" ") == "" {
		return s
	}
	words, last := []string{}, ""
	for _, b := range []byte(s) {
		char := string(rune(b))
		if b != 0 && (b < ' ' || b > '~' || strings.IndexByte(`'!\`, b) >= 0) {
			char = fmt.Sprintf(`\0%03o`, b)
		}
		if len(last)+len(char) > maxWord {
			words, last = append(words, last), ""
		}
		last += char
	}
	return Script(`sh -c 'eval "$(printf %b "$@")"' sh '` + strings.Join(append(words, last), "' '") + "'")
}
