// Package snapshots reads what was written of a job's ranks into files, and makes one job of it.
package snapshots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
)

// Read makes one job of files, folders of files, and standard input, with the stacks of recordings if they are
// asked for.
func Read(ctx context.Context, args []string, stdin io.Reader, stacks bool) (*mqs.Snapshot, error) {
	paths, err := snapshotFiles(args)
	if err != nil {
		return nil, err
	}
	// A job may have a file for each of a hundred thousand ranks.
	var (
		parser    document.Parser
		readers   sync.WaitGroup
		next      atomic.Int64 // of paths
		snapshots = make([]*mqs.Snapshot, len(paths))
		wrong     = make([]error, len(paths))
	)
	for range min(runtime.NumCPU(), len(paths)) {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for i := next.Add(1) - 1; i < int64(len(paths)); i = next.Add(1) - 1 {
				if wrong[i] = ctx.Err(); wrong[i] == nil {
					snapshots[i], wrong[i] = readSnapshot(ctx, &parser, paths[i], stdin, stacks)
				}
			}
		}()
	}
	readers.Wait()
	if err := firstOf(wrong); err != nil {
		return nil, err
	}
	return read.Merge(snapshots...)
}

// firstOf names the first of some errors, and how many more there are.
func firstOf(all []error) error {
	var first error
	more := 0
	for _, err := range all {
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			more++
		}
	}
	if more > 0 {
		return fmt.Errorf("%w (and %d more can't be read)", first, more)
	}
	return first
}

// snapshotFiles lists the files that are meant, of a folder those of JSON.
func snapshotFiles(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err != nil || !info.IsDir() {
			paths = append(paths, arg) // what is wrong with it is said when it is read
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, cantRead(arg, err)
		}
		before := len(paths)
		for _, e := range entries {
			path := filepath.Join(arg, e.Name())
			if strings.HasSuffix(path, ".json") && (e.Type().IsRegular() || leadsToFile(path, e)) {
				paths = append(paths, path)
			}
		}
		if len(paths) == before {
			return nil, fmt.Errorf("%s holds no .json file", arg)
		}
	}
	return paths, nil
}

// leadsToFile says whether a folder's entry is a link to a file. Pipes and devices
// are taken only where they are named: they may never end.
func leadsToFile(path string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readSnapshot reads one file, or standard input.
func readSnapshot(ctx context.Context, parser *document.Parser, path string, stdin io.Reader, stacks bool) (*mqs.Snapshot, error) {
	if filepath.Ext(path) == ".mpiq" {
		r, err := recording.Open(path)
		if err != nil {
			return nil, err
		}
		return r.Read(ctx, decoders.All, read.Filter{Internal: true, Stacks: stacks})
	}
	name, from := "standard input", stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, cantRead(path, err)
		}
		defer func() { _ = f.Close() }()
		name, from = path, f
	}
	s, err := parser.Read(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

func cantRead(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s can't be read: %w", path, err)
}
