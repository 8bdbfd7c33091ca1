// Package needs applies the rule of package trust to what the loader loads with a library: the files
// that the library names, and the folders that are searched for them.
package needs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
)

// maxLibraries bounds the number of libraries that a library can need, directly or not.
const maxLibraries = 1 << 10

// Check checks the files that a library needs and that root's own list (ld.so.conf) does not find:
// those that it names with a folder, and those in the folders that it or the user's LD_LIBRARY_PATH
// names. safe are the folders below which everything is trusted. A [*trust.Error] says what is not
// trusted.
//
// library is a real path. A file that is not ELF is left to the loader to refuse.
func Check(library string, safe []string) error {
	c := check{safe: safe, environment: searched(os.Getenv(searchVariable), safe), seen: map[string]bool{}}
	return c.library(library, nil)
}

// Fits returns an error if a library is built for another platform than this program, which is to load it. glibc says then that
// there is no such file. A file that is not ELF is left to the loader to refuse.
func Fits(library string) error {
	own, ownErr := platformOf("/proc/self/exe")
	its, err := platformOf(library)
	if ownErr != nil || err != nil || own == its {
		return nil
	}
	return fmt.Errorf("%s is built for %v, and mpi-queues for %v", library, its, own)
}

type check struct {
	safe        []string
	environment []string        // folders
	seen        map[string]bool // real paths
}

// library checks one library. inherited are the folders that libraries which need it have searched for
// the libraries of their libraries, too.
func (c *check) library(path string, inherited []string) error {
	if c.seen[path] {
		return nil
	}
	c.seen[path] = true
	if len(c.seen) > maxLibraries {
		return fmt.Errorf("it needs more than %d libraries", maxLibraries)
	}
	d, err := readDynamic(path)
	if errors.Is(err, errNoELF) {
		return nil
	}
	if err != nil {
		return err
	}
	origin := filepath.Dir(path)
	runpath, err := folders(d.runpath, origin)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	search := slices.Concat(c.environment, runpath)
	if len(d.runpath) == 0 { // else the loader takes no notice of the older list
		rpath, err := folders(d.rpath, origin)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		inherited = slices.Concat(rpath, inherited)
		search = slices.Concat(inherited, c.environment)
	}
	search = variants(search)
	for _, folder := range search {
		if err := trust.Search(folder, c.safe); err != nil {
			return err
		}
	}
	for _, name := range d.needed {
		if name, err = expand(name, origin); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		places := search
		if strings.Contains(name, "/") {
			places = []string{"/"} // the host's working directory
			if err := trust.Search(filepath.Dir(filepath.Join("/", name)), c.safe); err != nil {
				return err
			}
		}
		for _, folder := range places {
			if err := c.file(filepath.Join(folder, name), inherited); err != nil {
				return err
			}
		}
	}
	return nil
}

// file checks a library that may be there.
func (c *check) file(path string, inherited []string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	real, err := trust.File(path, c.safe)
	var distrust *trust.Error
	switch {
	case errors.As(err, &distrust):
		return err
	case err != nil:
		return nil // leads nowhere, or to no file: the loader goes on
	}
	return c.library(real, inherited)
}

// folders returns the folders in a library's list.
func folders(lists []string, origin string) ([]string, error) {
	var out []string
	for _, list := range lists {
		for _, folder := range strings.Split(list, ":") {
			folder, err := expand(folder, origin)
			if err != nil {
				return nil, err
			}
			// The host's working directory, which an empty name stands for, is the root.
			out = append(out, filepath.Join("/", folder))
		}
	}
	return out, nil
}

// expand puts the library's folder in the place of $ORIGIN: ld.so(8).
func expand(text, origin string) (string, error) {
	text = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(text)
	if strings.Contains(text, "$") {
		return "", fmt.Errorf("where the loader searches %q can't be told", text)
	}
	return text, nil
}

// variants returns the folders with their subfolders for kinds of processors, which the loader searches
// first (ld.so(8), glibc-hwcaps).
func variants(folders []string) []string {
	var out []string
	for _, folder := range folders {
		inside := filepath.Join(folder, "glibc-hwcaps")
		kinds, _ := os.ReadDir(inside)
		for _, kind := range kinds {
			out = append(out, filepath.Join(inside, kind.Name()))
		}
		out = append(out, folder)
	}
	return out
}
