package mqs

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// Caller is a function on the way from the program to an MPI call that it has not made itself.
type Caller struct {
	// Function is its name.
	Function string `json:"function"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call of the next function inwards is.
	Line int `json:"line" document:"null,min=1"`
	// Object is the path of the library that the function is in. The program's own have none.
	Object string `json:"object" document:"null"`
}

// String names a function, its library and its line: "H5Fclose (libhdf5) at H5F.c:1060".
func (c Caller) String() string {
	text := c.Function
	if c.Object != "" {
		text += " (" + libraryName(c.Object) + ")"
	}
	switch {
	case c.File != "" && c.Line > 0:
		return fmt.Sprintf("%s at %s:%d", text, path.Base(c.File), c.Line)
	case c.File != "":
		return text + " at " + path.Base(c.File)
	}
	return text
}

// libraryName is the name of a library's file, without the ending and the version: "libhdf5".
func libraryName(object string) string {
	base := path.Base(object)
	name, _, _ := strings.Cut(base, ".so")
	return cmp.Or(name, base)
}

// CallersText names functions, from the innermost outwards: "H5Fclose (libhdf5) from main at io.c:12".
func CallersText(callers []Caller) string {
	var parts []string
	for _, c := range callers {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, " from ")
}
