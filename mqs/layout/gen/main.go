// Gen makes the tables of C types' layouts from recipes, and writes their hashes.
//
//	go run ./mqs/layout/gen
//	go run ./mqs/layout/gen make -cache FOLDER [-update] [-own] [NAME...]
//
// The first is what `go generate' runs: it writes all tables' files anew from what they say. It needs no
// network, and refuses a table that its recipe no longer gives. The second makes the tables named, or all,
// by their recipes: it fetches packages, compiles a C file that includes a release's headers, and reads the
// types from its DWARF. It fails if a table differs from the one that is there, or writes it with -update.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	root, err := findRoot()
	if err == nil && len(os.Args) > 1 {
		err = makeTables(root, os.Args[1:])
	} else if err == nil {
		err = rewrite(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// findRoot is the folder of the project that the working folder is in.
func findRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", errors.New("no folder here or above has a go.mod")
		}
		at = filepath.Dir(at)
	}
}

// rewrite writes the files of all tables in the one form that they have: without members that
// nothing wants any more, and with their hashes.
func rewrite(root string) error {
	all, err := readSets(root)
	if err != nil {
		return err
	}
	var bad []error
	for _, s := range all {
		for _, t := range s.tables {
			bad = append(bad, s.renew(t))
		}
		bad = append(bad, s.write(root))
	}
	return errors.Join(bad...)
}

// makeTables makes tables by their recipes and compares them with those that are there.
func makeTables(root string, args []string) error {
	if args[0] != "make" {
		return fmt.Errorf("there is no command %s", args[0])
	}
	w := workshop{progress: os.Stderr}
	flags := flag.NewFlagSet("gen make", flag.ExitOnError)
	update := flags.Bool("update", false, "write what is made")
	own := flags.Bool("own", false, "leave out the tables for machines other than this")
	flags.StringVar(&w.cache, "cache", "", "`folder` that keeps what was compiled")
	flags.StringVar(&w.fetch, "fetch", filepath.Join(root, "tests", "tables", "fetch"), "`program` that unpacks packages")
	_ = flags.Parse(args[1:]) // it exits
	if w.cache == "" {
		return errors.New("-cache is needed")
	}
	all, err := readSets(root)
	if err != nil {
		return err
	}
	made, different := 0, 0
	var bad []error
	for _, s := range all {
		for _, name := range s.recipeNames() {
			if flags.NArg() > 0 && !slices.Contains(flags.Args(), name) || *own && s.recipes[name].Architecture != "" {
				continue
			}
			t, err := s.make(&w, s.recipes[name])
			if errors.Is(err, errNotThere) {
				fmt.Printf("%s: not made: %v\n", name, err)
				continue
			} else if err != nil {
				bad = append(bad, fmt.Errorf("%s: %w", name, err))
				continue
			}
			made++
			if is := differences(s.table(name), t); is != "" {
				different++
				fmt.Printf("%s: different\n%s", name, is)
			} else {
				fmt.Printf("%s: the same\n", name)
			}
			s.put(t)
		}
		if *update {
			bad = append(bad, s.write(root))
		}
	}
	if made == 0 {
		bad = append(bad, errors.New("no table could be made"))
	}
	if different > 0 && !*update {
		bad = append(bad, fmt.Errorf("%d tables are not what their recipes give", different))
	}
	return errors.Join(bad...)
}
