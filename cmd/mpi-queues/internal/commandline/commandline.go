package commandline

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// Prefixed returns the command line of a launcher with something before each program, which is to be
// one or more words. A program that is linked with an MPI library is its job's only rank. A line of no
// launcher whose options it knows is returned as it is, and so is one that begins with `mpi-queues rank',
// or has that and can't be read. Errors are sentences for users.
func Prefixed(ctx context.Context, line, prefix string) (string, error) {
	all, isSimple := words(line)
	for len(all) > 0 && isAssignment(all[0].text) {
		all = all[1:]
	}
	if len(all) == 0 || isRank(all) {
		return line, nil
	}
	path := find(all[0].text)
	if usesMPI(path) {
		return line[:all[0].start] + prefix + " " + line[all[0].start:], nil
	}
	s := syntaxOf(ctx, path)
	if s == nil {
		return line, nil
	}
	if !isSimple {
		return "", fmt.Errorf("only one command can be started: put what is more than that into a script")
	}
	places, err := s.programs(all[1:])
	switch {
	case err == nil:
	case hasRank(all):
		return line, nil
	default:
		return "", fmt.Errorf("%w: put `mpi-queues rank --' before each program, so that it is found", err)
	}
	for i := len(places) - 1; i >= 0; i-- {
		line = line[:places[i]] + prefix + " " + line[places[i]:]
	}
	return line, nil
}

// hasRank says whether a user has put himself what a rank is started through.
func hasRank(all []word) bool {
	for i := range all {
		if isRank(all[i:]) {
			return true
		}
	}
	return false
}

// isRank says whether words begin with that.
func isRank(all []word) bool {
	return len(all) > 1 && filepath.Base(all[0].text) == "mpi-queues" && all[1].text == "rank"
}

// programs returns where in a line the programs stand, none if a file has them.
func (s *syntax) programs(args []word) ([]int, error) {
	var places []int
	for i := 0; i < len(args); i++ {
		text := args[i].text
		if strings.HasPrefix(text, "-") && len(text) > 1 {
			if text == "--" {
				continue
			}
			if text == s.list {
				return nil, nil
			}
			n, known := s.arguments(text)
			if !known {
				return nil, fmt.Errorf("the option %s is not known", text)
			}
			i += n
			continue
		}
		if text == s.separator {
			continue
		}
		places = append(places, args[i].start)
		for i < len(args) && args[i].text != s.separator {
			i++
		}
	}
	return places, nil
}
