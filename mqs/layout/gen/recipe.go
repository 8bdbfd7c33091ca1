package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// A recipe says how a release's table is made from packages of a distribution. The C types and
// members are not in it: these are what the tags of the decoder's structs name.
type recipe struct {
	name string
	code string // the C file's text

	Release string       `json:"release"` // as in the table
	Scope   layout.Scope `json:"scope"`   // as in the table
	BasedOn string       `json:"based_on"`
	// Architecture is the machine whose layouts they are, as Debian calls it, if it is another one than this.
	Architecture string `json:"architecture,omitempty"`
	// Suite is the release of Debian, by its code name, that has the packages.
	Suite string `json:"suite"`
	// Source is the source package and its version, as in "ucx=1.13.1-1".
	Source string `json:"source"`
	// Packages are those whose headers are needed too: of the same suite, whatever their version.
	Packages []string `json:"packages"`
	// Prepare are commands of the shell that make the source's own headers, run in its folder.
	Prepare []string `json:"prepare"`
	// Code is the C file's name, beside the recipe, and Flags what it is compiled with, in the
	// source's folder. In the commands and the flags, $SOURCE and $PACKAGES are where these are
	// unpacked.
	Code  string   `json:"code"`
	Flags []string `json:"flags"`
	// Configuration is the path of the header that the source's configuration has made, and Options are the choices
	// that change the layouts: what each of them defines in that header.
	Configuration string                       `json:"configuration,omitempty"`
	Options       map[string]map[string]string `json:"options,omitempty"`
}

// combinations are all combinations of the recipe's options, none first.
func (r *recipe) combinations() [][]string {
	return layout.Combinations(slices.Sorted(maps.Keys(r.Options)))
}

// configure returns the configuration's header as some of the options make it.
func (r *recipe) configure(header string, with []string) (string, error) {
	for _, option := range with {
		for name, value := range r.Options[option] {
			line := regexp.MustCompile(`(?m)^(/\* #undef ` + name + ` \*/|# *define ` + name + `\b.*)$`)
			if n := len(line.FindAllString(header, -1)); n != 1 {
				return "", fmt.Errorf("%s: %s is there %d times, not once", r.Configuration, name, n)
			}
			header = line.ReplaceAllString(header, "#define "+name+" "+value)
		}
	}
	return header, nil
}

// readRecipes reads the folder recipes in the folder of a set, by their names.
func readRecipes(folder fs.FS) (map[string]*recipe, error) {
	names, err := fs.Glob(folder, "recipes/*.json")
	if err != nil {
		return nil, err
	}
	out := map[string]*recipe{}
	for _, path := range names {
		text, err := fs.ReadFile(folder, path)
		if err != nil {
			return nil, err
		}
		r := &recipe{name: strings.TrimSuffix(strings.TrimPrefix(path, "recipes/"), ".json")}
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		code, err := fs.ReadFile(folder, "recipes/"+r.Code)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.code = string(code)
		out[r.name] = r
	}
	return out, nil
}

// hash is of what decides about the object file that the recipe gives.
func (r *recipe) hash() string {
	of := *r
	of.Release, of.Scope, of.BasedOn = "", "", ""
	sum := sha256.Sum256([]byte(compact(of) + r.code))
	return hex.EncodeToString(sum[:])
}
