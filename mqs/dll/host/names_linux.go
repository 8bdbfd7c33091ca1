package host

import (
	"regexp"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
)

// functionNames are the names that a function of a language may have in the symbol table, the
// likeliest first. C++'s are as a debugger writes them: "ns::f(int)".
//
// Compilers of Fortran on Unix spell a procedure in lower case with an underscore behind it;
// one of a module, here "module::procedure", has names of each compiler's own: GNU's, Intel's
// and NVIDIA's.
func functionNames(name string, lang abi.LangCode) []string {
	if lang != abi.LangF77 && lang != abi.LangF90 {
		return []string{name}
	}
	lower := strings.ToLower(name)
	if module, procedure, ok := strings.Cut(lower, "::"); ok {
		return []string{"__" + module + "_MOD_" + procedure, module + "_mp_" + procedure + "_", module + "_" + procedure + "_"}
	}
	return []string{name, lower + "_"}
}

// typeNames are the names that a type of a language may have in debug information.
func typeNames(name string, lang abi.LangCode) []string {
	if lang == abi.LangF77 || lang == abi.LangF90 {
		return fortranTypes(name)
	}
	for _, keyword := range []string{"struct ", "union ", "enum "} {
		name = strings.TrimPrefix(name, keyword)
	}
	if lang == abi.LangCplus {
		name = strings.TrimPrefix(name, "class ")
	}
	return []string{name}
}

// intrinsic is a type of Fortran's own: its name, and its kind or size if that is said.
var intrinsic = regexp.MustCompile(`^(integer|real|logical|complex|character)(?:\s*\*\s*(\d+)|\s*\(\s*(?:kind\s*=\s*)?(\d+)\s*\))?$`)

// fortranTypes are the names of a type of Fortran's. Debuggers take a name without a kind for
// that of any kind, so that it is never left out: the default is the compilers', without options
// that change it.
func fortranTypes(name string) []string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch strings.Join(strings.Fields(name), " ") {
	case "double precision":
		name = "real(8)"
	case "double complex":
		name = "complex(8)"
	}
	m := intrinsic.FindStringSubmatch(name)
	if m == nil {
		if inner, ok := strings.CutPrefix(name, "type"); ok && strings.HasPrefix(strings.TrimSpace(inner), "(") {
			name = strings.Trim(strings.TrimSpace(inner), "() ")
		}
		return []string{name}
	}
	kind := m[3]
	switch {
	case m[2] != "" && m[1] == "character":
		kind = "1" // that was a length
	case m[2] != "" && m[1] == "complex":
		kind = map[string]string{"8": "4", "16": "8", "32": "16"}[m[2]] // the size of both parts
	case m[2] != "":
		kind = m[2]
	case kind == "" && m[1] == "character":
		kind = "1"
	case kind == "":
		kind = "4"
	}
	// As compilers write them into DWARF: GNU's and LLVM's, Intel's.
	return []string{m[1] + "(kind=" + kind + ")", strings.ToUpper(m[1]) + "(" + kind + ")"}
}
