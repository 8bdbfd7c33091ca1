// Package section reads and replaces the parts of a Markdown page that a program writes. A part
// stands between two lines:
//
//	<!-- begin: NAME (the command that writes it) -->
//	<!-- end: NAME -->
package section

import (
	"fmt"
	"regexp"
	"strings"
)

// Get returns what stands in a section of a page.
func Get(page, name string) (string, error) {
	begin, end, err := find(page, name)
	if err != nil {
		return "", err
	}
	return page[begin:end], nil
}

// Put returns the page with other content, of whole lines, in a section.
func Put(page, name, content string) (string, error) {
	begin, end, err := find(page, name)
	if err != nil {
		return "", err
	}
	return page[:begin] + content + page[end:], nil
}

// find returns where the content of a section begins and ends.
func find(page, name string) (begin, end int, err error) {
	first := regexp.MustCompile(`(?m)^<!-- begin: ` + regexp.QuoteMeta(name) + ` \(.*\) -->\n`)
	at := first.FindAllStringIndex(page, -1)
	if len(at) != 1 {
		return 0, 0, fmt.Errorf("%d lines begin the section %q: there has to be one, <!-- begin: %s (COMMAND) -->", len(at), name, name)
	}
	begin = at[0][1]
	last := "<!-- end: " + name + " -->\n"
	if strings.HasPrefix(page[begin:], last) {
		return begin, begin, nil
	}
	length := strings.Index(page[begin:], "\n"+last)
	if length < 0 {
		return 0, 0, fmt.Errorf("no line ends the section %q: it would be <!-- end: %s -->", name, name)
	}
	return begin, begin + length + 1, nil
}
