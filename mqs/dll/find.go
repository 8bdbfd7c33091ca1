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

// Found is the DLL for a process.
type Found struct {
	// Path is the DLL that [Hosts.Open] would load; empty if there is none.
	Path string
	// Why says why there is none, as a sentence without its full stop.
	Why string
}

// Find finds a process's DLL, and whether it is trusted, without loading it.
func (hs *Hosts) Find(ctx context.Context, p Process, s Settings) (Found, error) {
	found, err := find(ctx, p, s, hs.Log)
	if err != nil {
		return Found{}, err
	}
	if found.ignore {
		return Found{Why: "the program asks debuggers not to show its queues"}, nil
	}
	out := Found{}
	for _, c := range found.candidates {
		path, err := c.resolve(s.SafePath)
		if err == nil {
			return Found{Path: path}, nil
		}
		if out.Why == "" {
			out.Why = err.Error()
		}
	}
	if out.Why == "" {
		out.Why = found.noDLLError().Error()
	}
	return out, nil
}

// candidate is a DLL that may be that of a process.
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
	// problems say why a DLL that is named is no candidate.
	problems []string
	// ignore is true if the process asks that its queues not be shown. If the process names no DLL, the
	// program that started it may ask for that, too; a remark then says so.
	ignore  bool
	remarks []string
	// asked is true if the processes on this machine that started the job are known, and were read.
	asked bool
}

// find finds the DLLs that the process names, or else the program that started it, or else those
// that have the default names of the 1.03 note. If the user has set a DLL, it is the only one.
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
	own, err := f.readProcess(r, "the process")
	if err != nil {
		return nil, err
	}
	f.ignore = own.Ignore
	for _, t := range p.Starters {
		if f.hasCandidate() {
			break
		}
		who := fmt.Sprintf("process %d, which may have started it,", t.Info().PID)
		theirs, err := f.readProcess(inferior.NewReader(ctx, t), who)
		if err != nil {
			return nil, err
		}
		f.applyIgnore(theirs, who)
	}
	if info := p.Info(); info.Kind == "live" && info.PID > 0 {
		f.addStarters(starter.Find, info.PID)
	} else if info.Kind == "remote" {
		for _, pid := range p.Launchers {
			f.addStarters(starter.From, pid)
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

// addStarters adds the DLLs named by the processes of this machine that started the job, unless there is a DLL to try already.
func (f *search) addStarters(find func(pid int) ([]starter.Starter, []error), pid int) {
	if f.hasCandidate() {
		return
	}
	f.asked = true
	found, unread := find(pid)
	for _, s := range found {
		who := fmt.Sprintf("process %d, which has started it,", s.PID)
		f.addNamed(s.Found, who)
		f.applyIgnore(s.Found, who)
	}
	for _, err := range unread {
		f.log.Debug().Err(err).Msg("a starter of the job can't be read")
	}
}

// readProcess reads what a process says of its DLL.
func (f *search) readProcess(r *inferior.Reader, who string) (locate.Found, error) {
	found, err := locate.Read(r, 0)
	if err == nil {
		f.addNamed(found, who)
	}
	return found, err
}

// addNamed adds the DLLs that a process names.
func (f *search) addNamed(found locate.Found, who string) {
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
			f.problems = append(f.problems, fmt.Sprintf("%s names %s, which is not %s", origin, cleanText(c.Path), f.searchedPlaces()))
		}
	}
	for _, p := range found.Problems {
		f.problems = append(f.problems, fmt.Sprintf("in %s, %s", strings.TrimSuffix(who, ","), cleanText(p)))
	}
}

// applyIgnore does not show the queues if a starter asks for that.
func (f *search) applyIgnore(found locate.Found, who string) {
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

// hasCandidate says whether there is a DLL to try.
func (f *search) hasCandidate() bool {
	return slices.ContainsFunc(f.candidates, func(c candidate) bool { return exists(c.path) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folders returns the folders of the process's MPI libraries. If a program is linked with its MPI, it
// returns the program's own folder and those that the loader searches.
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

// searchedPlaces says where a DLL without a folder is searched for.
func (f *search) searchedPlaces() string {
	if f.libraryFolders() != nil {
		return "beside the MPI library"
	}
	return "beside the program, which has no MPI library of its own, or in the system's folders"
}

// loaderFolders are the folders that the loader searches for libraries of this program's architecture
// (ld.so(8), Debian's multiarch). LD_LIBRARY_PATH does not count: it is not trusted, and that of the
// process may be anything.
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

// noDLLError is the error for a process without any DLL.
func (f *search) noDLLError() error {
	if f.problems != nil {
		return fmt.Errorf("%w: %s; `set mpi-queues dll PATH' names one", read.ErrNoDLL, strings.Join(f.problems, "; "))
	}
	other := "what has started it"
	if !f.asked {
		other = "another inferior"
	}
	return fmt.Errorf("%w: neither the process nor %s names one (%s, %s), and no DLL is %s; "+
		"`set mpi-queues dll PATH' names one", read.ErrNoDLL, other, locate.DLLName, locate.DLLLocations, f.searchedPlaces())
}

// resolve returns the real path of a DLL if it, and the libraries that it needs, may be loaded.
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
		err = needs.Fits(path)
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

// imageKey identifies a program with its libraries. Newer files of the same names have another key.
func imageKey(info inferior.Info) string {
	h := sha256.New()
	for _, path := range slices.Concat([]string{info.Executable, info.Architecture}, info.Libraries) {
		fmt.Fprintf(h, "%q %s\n", path, fileIdentity(path))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fileIdentity tells a file from others of the same name; it is empty if there is no file.
func fileIdentity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}
