package needs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// searchVariable names folders that the loader searches for libraries.
const searchVariable = "LD_LIBRARY_PATH"

// Environment returns an environment for a process that loads libraries. Of the variables that make the
// loader load others, only absolute folders remain that nobody else can write to, or that are safe. It
// has one value for each name.
func Environment(env, safe []string) []string {
	var out []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if name == searchVariable {
			if value = strings.Join(searched(value, safe), ":"); value != "" {
				out = append(out, name+"="+value)
			}
			continue
		}
		if !strings.HasPrefix(name, "LD_") {
			out = append(out, variable)
		}
	}
	return out
}

// searched returns the folders of a list that may be searched.
func searched(list string, safe []string) []string {
	folders := strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ';' })
	return slices.DeleteFunc(folders, func(folder string) bool {
		return !filepath.IsAbs(folder) || strings.Contains(folder, "$") || trust.Search(folder, safe) != nil
	})
}
