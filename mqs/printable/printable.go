// Package printable makes foreign text safe to show. Names, messages and versions come from a debugged
// process, a vendor's DLL, a recording or a file's name. Whoever chose them may have wanted to command a
// terminal, or to deceive a reader. All output goes through here: tables and pages, error messages, the
// log. The extension's copy is printable in python/mpi_queues/errors.py.
package printable

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// IsSafe is true of a character that shows as itself and changes nothing around
// it. These do not:
//
//   - controls (category Cc: C0 with ESC and the line breaks, DEL, and C1, where
//     U+009B is another ESC [), which command a terminal;
//   - format characters (Cf: the bidirectional controls, the joiners and spaces
//     without a width, U+FEFF, tags), which turn the text around them about or
//     make two names look like one;
//   - separators of lines and paragraphs (Zl, Zp);
//   - what is no character (U+FFFE, U+FFFF), for which XML has no place.
func IsSafe(r rune) bool {
	return r != 0xfffe && r != 0xffff && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Line makes a text fit to be part of a line: what is not safe, line breaks
// included, and what is not UTF-8 become U+FFFD.
func Line(s string) string { return replace(s, IsSafe) }

// Text makes a text of several lines fit to be shown; its line breaks and tabs stay.
func Text(s string) string {
	return replace(s, func(r rune) bool { return r == '\n' || r == '\t' || IsSafe(r) })
}

func replace(s string, isSafe func(rune) bool) string {
	if isPlain(s) {
		return s
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !isSafe(r) }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isSafe(r) {
			return r
		}
		return utf8.RuneError
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// isPlain is true of a text of printable ASCII, as most are: the tables of character classes need not be asked.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// AppendJSON appends a text as a string of JSON that a terminal can show: it is
// the same text when it is read, but what is not safe is written as an escape.
// What is not UTF-8 becomes U+FFFD.
func AppendJSON(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	for _, r := range string(text) {
		switch {
		case IsSafe(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}
