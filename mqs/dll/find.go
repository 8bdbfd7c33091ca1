package dll

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/dll/needs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/starter"
	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// candidate is a DLL that may be the one.
type candidate struct {
	path string
	// origin says who names it.
	origin string
}

// search is the search for the DLLs of one process.
type search struct {
	process    Process
	log        zerolog.Logger
	candidates []candidate
	// problems are why something that is named is no candidate.
	problems []string
	// ignore is true if the process asks that its queues not be shown, or, where it names no DLL,
	// the one that started it, which is then remarked on.
	ignore  bool
	remarks []string
}

// find looks for DLLs as the documents say: where the process names one, where
// the starter of its job does, and under the names that the 1.03 note has for
// when nobody does. A DLL that the user has set is the only one.
func find(ctx context.Context, p Process, s Settings, log zerolog.Logger) (*search, error) {
	f := &search{process: p, log: log}
	if s.Path != "" {
		f.add(s.Path, "`set mpi-queues dll'")
		return f, nil
	}
	r := p.Reader
	if r == nil {
		r = inferior.NewReader(ctx, p)
	}
	own, err := f.ask(r, "the process")
	if err != nil {
		return nil, err
	}
	f.ignore = own.Ignore
	for _, t := range p.Starters {
		if f.fruitful() {
			break
		}
		who := fmt.Sprintf("process %d, which may have started it,", t.Info().PID)
		theirs, err := f.ask(inferior.NewReader(ctx, t), who)
		if err != nil {
			return nil, err
		}
		f.heed(theirs, who)
	}
	if info := p.Info(); info.Kind == "live" && info.PID > 0 && !f.fruitful() {
		found, unread := starter.Look(info.PID)
		for _, s := range found {
			who := fmt.Sprintf("process %d, which has started it,", s.PID)
			f.take(s.Found, who)
			f.heed(s.Found, who)
		}
		for _, err := range unread {
			log.Debug().Err(err).Msg("a starter of the job can't be read")
		}
	}
	folders := f.folders()
	if f.libraryFolders() == nil && len(f.candidates) > 0 {
		folders = nil // what stands in the system's folders may be another MPI's
	}
	for _, path := range locate.Default(folders) {
		if exists(path) {
			f.add(path, "its place beside the MPI library")
		}
	}
	return f, nil
}

// ask reads what a process says.
func (f *search) ask(r *inferior.Reader, who string) (locate.Found, error) {
	found, err := locate.Read(r, 0)
	if err == nil {
		f.take(found, who)
	}
	return found, err
}

// take adds what a process says.
func (f *search) take(found locate.Found, who string) {
	for _, c := range found.Candidates {
		origin := fmt.Sprintf("%s in %s", c.Symbol, strings.TrimSuffix(who, ","))
		if strings.Contains(c.Path, "/") {
			f.add(c.Path, origin)
			continue
		}
		before := len(f.candidates)
		for _, folder := range f.folders() {
			if path := filepath.Join(folder, c.Path); exists(path) {
				f.add(path, origin)
			}
		}
		if len(f.candidates) == before {
			f.problems = append(f.problems, fmt.Sprintf("%s names %s, which is not %s", origin, cleanText(c.Path), f.places()))
		}
	}
	for _, p := range found.Problems {
		f.problems = append(f.problems, fmt.Sprintf("in %s, %s", strings.TrimSuffix(who, ","), cleanText(p)))
	}
}

// heed does as a starter asks.
func (f *search) heed(found locate.Found, who string) {
	if found.Ignore && !f.ignore {
		f.ignore = true
		f.remarks = append(f.remarks, who+" asks debuggers not to show the queues, so no DLL was asked")
	}
}

func (f *search) add(path, origin string) {
	if !slices.ContainsFunc(f.candidates, func(c candidate) bool { return c.path == path }) {
		f.candidates = append(f.candidates, candidate{path, origin})
	}
}

// fruitful is true if there is a DLL to try.
func (f *search) fruitful() bool {
	return slices.ContainsFunc(f.candidates, func(c candidate) bool { return exists(c.path) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folders are those of the process's MPI libraries. A program that is linked with its MPI has
// none: then they are the program's own, and those where the loader looks for libraries.
func (f *search) folders() []string {
	if out := f.libraryFolders(); out != nil {
		return out
	}
	if program := f.process.Info().Executable; filepath.IsAbs(program) {
		return append([]string{filepath.Dir(program)}, loaderFolders()...)
	}
	return loaderFolders()
}

func (f *search) libraryFolders() []string {
	var out []string
	for _, path := range f.process.Info().Libraries {
		folder := filepath.Dir(path)
		if strings.Contains(filepath.Base(path), "mpi") && filepath.IsAbs(folder) && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	return out
}

// places says in words where a DLL without a folder is looked for.
func (f *search) places() string {
	if f.libraryFolders() != nil {
		return "beside the MPI library"
	}
	return "beside the program, which has no MPI library of its own, or in the system's folders"
}

// loaderFolders are those where the loader looks for libraries of this program's architecture,
// as ld.so(8) and Debian's multiarch have them. LD_LIBRARY_PATH is not asked: it is no part of
// what is trusted, and the process's own may be anything.
var loaderFolders = sync.OnceValue(func() []string {
	triplet := map[string]string{"amd64": "x86_64", "386": "i386", "arm64": "aarch64", "ppc64le": "powerpc64le", "s390x": "s390x"}[runtime.GOARCH]
	var out []string
	for _, folder := range []string{"/lib/" + triplet + "-linux-gnu", "/usr/lib/" + triplet + "-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		if real, err := filepath.EvalSymlinks(folder); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
})

// none is the sentence for a process without any DLL.
func (f *search) none() error {
	if f.problems != nil {
		return fmt.Errorf("%w: %s; `set mpi-queues dll PATH' names one", read.ErrNoDLL, strings.Join(f.problems, "; "))
	}
	return fmt.Errorf("%w: neither the process nor what has started it names one (%s, %s), and no DLL is %s; "+
		"`set mpi-queues dll PATH' names one", read.ErrNoDLL, locate.DLLName, locate.DLLLocations, f.places())
}

// resolve returns the real path of a DLL that may be loaded, with what it needs.
func (c candidate) resolve(safe []string) (string, error) {
	refuse := func(distrust *trust.Error, folder, why string) (string, error) {
		folders := append(slices.Clone(safe), folder)
		return "", fmt.Errorf("%s is not loaded, since %s%s. To trust it all the same: `set mpi-queues dll-safe-path %s'. It is named by %s",
			c.path, why, distrust.Because(), strings.Join(folders, string(filepath.ListSeparator)), c.origin)
	}
	path, err := trust.File(c.path, safe)
	var distrust *trust.Error
	if errors.As(err, &distrust) {
		return refuse(distrust, filepath.Dir(distrust.Real), "")
	}
	if err == nil {
		err = needs.Check(path, safe)
	}
	if errors.As(err, &distrust) {
		folder := distrust.Real
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			folder = filepath.Dir(folder)
		}
		return refuse(distrust, folder, fmt.Sprintf("what it needs may come from %s, and ", distrust.Path))
	}
	if err != nil {
		return "", fmt.Errorf("the DLL that %s names can't be loaded: %w", c.origin, err)
	}
	return path, nil
}

// imageKey tells a program with its libraries from others, and from newer ones
// of the same names.
func imageKey(info inferior.Info) string {
	h := sha256.New()
	for _, path := range slices.Concat([]string{info.Executable, info.Architecture}, info.Libraries) {
		fmt.Fprintf(h, "%q %s\n", path, fileIdentity(path))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fileIdentity tells a file from another of the same name; empty if it is not there.
func fileIdentity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}
