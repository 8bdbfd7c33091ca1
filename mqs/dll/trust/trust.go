// Package trust is the rule for whose files and folders are used: root's, and the user's own. The
// extension has its own copy of the rule in python/mpi_queues/trust.py.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// maxLinks bounds the number of symbolic links on a path, as the kernel does.
const maxLinks = 40

// Error says why a file must not be used although it is there. A folder on the list of safe folders would
// allow it.
type Error struct {
	// Path is the file as the caller named it.
	Path string
	// Real is its path without links.
	Real string
	// Place is the file, link or folder at fault: Path, or one on the way to it.
	Place string
	// Reason completes a sentence that begins with Place.
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s is not trusted: %s", e.Path, e.Because())
}

// Because is the reason as a clause.
func (e *Error) Because() string { return e.Place + " " + e.Reason }

// File returns the real path of a file that may be used. The caller uses this path: a link may have
// changed by then if only the list of safe folders allowed it. An [*Error] is what that list could allow.
// Other errors are for paths that are relative, lead nowhere, or lead to no regular file.
//
// The path may come out of a program's memory, where whoever wrote the program's input may have put it.
// So only root and the user, who can do anything anyway, may have had a say in the file: it, each folder
// and each link on the way belong to them, and nobody else can write there.
//
//   - A folder like /tmp, to which all may write and which has the sticky bit, is allowed above other
//     folders: nobody can replace a folder in it that is not theirs. It is not allowed as the folder that
//     holds the file or a link, since many programs can be talked into creating one for somebody.
//   - A place that its group can write to is refused, except for root's group and the user's own private
//     group. See [privateGroup].
//   - A POSIX ACL shows as its mask in the group's bits, so a file to which others were given access is
//     writable by the group. No exception for a group applies then. With NFSv4's ACLs, the bits are the
//     server's word, and are believed.
//   - On a file system that a program serves (FUSE), everything is that program's word, owners and modes
//     included, and may be different the next time. It counts as that program's user's.
//   - What a library itself needs is not checked here: see package needs.
//
// safe are the folders below which everything is trusted, as absolute paths.
func File(path string, safe []string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%q is no absolute path", path)
	}
	w := walk{path: path, user: os.Geteuid()}
	real, err := w.walk()
	if err != nil {
		return "", err
	}
	if w.distrust == nil || below(real, safe) {
		return real, nil
	}
	w.distrust.Real = real
	return "", w.distrust
}

// Folder returns the real path of a folder into which files may be put to be used from there, by the rule
// of [File] for the folder that holds the file.
func Folder(path string) (string, error) {
	return folder(walk{path: path, user: os.Geteuid(), wantsFolder: true})
}

// Parent returns the real path of a folder in which a new folder may be made to be used from there, by the
// rule of [File] for folders above others: it may be /tmp.
func Parent(path string) (string, error) {
	return folder(walk{path: path, user: os.Geteuid(), wantsFolder: true, isAbove: true})
}

func folder(w walk) (string, error) {
	if !filepath.IsAbs(w.path) {
		return "", fmt.Errorf("%q is no absolute path", w.path)
	}
	real, err := w.walk()
	if err == nil && w.distrust != nil {
		w.distrust.Real = real
		err = w.distrust
	}
	if err != nil {
		return "", err
	}
	return real, nil
}

// walk follows a path as the kernel does.
type walk struct {
	path     string
	user     int
	servers  map[uint64]int // the users whose programs serve file systems, by device
	distrust *Error         // the first reason that was met
	// wantsFolder is true if the path has to lead to a folder.
	wantsFolder bool
	// isAbove is true if what is used from that folder are folders.
	isAbove bool
}

// walk checks all places on the way to the file, and returns its real path.
func (w *walk) walk() (string, error) {
	at, rest := "/", split(w.path)
	if w.servers == nil {
		var err error
		if w.servers, err = servers(); err != nil {
			return "", fmt.Errorf("who serves the file systems is not known: %w", err)
		}
	}
	folder, err := os.Lstat(at)
	if err != nil {
		return "", err
	}
	for links := 0; ; {
		if len(rest) == 0 && w.wantsFolder {
			w.checkFolder(at, folder, w.isAbove)
			return at, nil
		}
		if len(rest) == 0 {
			return "", fmt.Errorf("%s is not a regular file", at)
		}
		if rest[0] == ".." {
			at = filepath.Dir(at)
		}
		if rest[0] == ".." || rest[0] == "." {
			if folder, err = os.Lstat(at); err != nil {
				return "", err
			}
			rest = rest[1:]
			continue
		}
		place := filepath.Join(at, rest[0])
		info, err := os.Lstat(place)
		if err != nil {
			return "", err
		}
		w.checkFolder(at, folder, info.IsDir())
		rest = rest[1:]
		switch {
		case info.IsDir():
			at, folder = place, info
		case info.Mode()&fs.ModeSymlink != 0:
			w.checkOwner(place, info)
			if links++; links > maxLinks {
				return "", fmt.Errorf("%s leads through more than %d links", w.path, maxLinks)
			}
			to, err := os.Readlink(place)
			if err != nil {
				return "", err
			}
			if filepath.IsAbs(to) {
				at = "/"
				if folder, err = os.Lstat(at); err != nil {
					return "", err
				}
			}
			rest = slices.Concat(split(to), rest)
		case w.wantsFolder:
			return "", fmt.Errorf("%s is not a folder", place)
		case len(rest) > 0 || !info.Mode().IsRegular():
			return "", fmt.Errorf("%s is not a regular file", place)
		default:
			w.checkOwner(place, info)
			w.checkWriters(place, info)
			return place, nil
		}
	}
}

// split returns the names in a path.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(name string) bool { return name == "" })
}

// checkFolder checks a folder on the way. What is looked up in it is a folder, or else the file or a
// link.
func (w *walk) checkFolder(place string, info fs.FileInfo, holdsFolder bool) {
	w.checkOwner(place, info)
	if holdsFolder && info.Mode()&fs.ModeSticky != 0 {
		return
	}
	w.checkWriters(place, info)
}

// checkOwner checks that the owner is root or the user, and that one of them says so.
func (w *walk) checkOwner(place string, info fs.FileInfo) {
	stat := info.Sys().(*syscall.Stat_t)
	if server, ok := w.servers[device(stat)]; ok && server != 0 && server != w.user {
		w.distrusts(place, "is on a file system that a program of "+UserName(server)+" serves")
	}
	if owner := int(stat.Uid); owner != 0 && owner != w.user {
		w.distrusts(place, "belongs to "+UserName(owner))
	}
}

// nobodyKnown stands for a user of whom nothing is known.
const nobodyKnown = -1

// names are the names that [UserName] has looked up, which may have cost a request to a server.
var names sync.Map

// UserName returns a user's name for messages, by the kernel's number. It is "somebody" for a negative
// number, which stands for a user of whom nothing is known.
func UserName(id int) string {
	if id < 0 {
		return "somebody"
	}
	if name, ok := names.Load(id); ok {
		return name.(string)
	}
	name := "user " + strconv.Itoa(id)
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		name = u.Username
	}
	names.Store(id, name)
	return name
}

// checkWriters checks that nobody but the owner can write.
func (w *walk) checkWriters(place string, info fs.FileInfo) {
	group := int(info.Sys().(*syscall.Stat_t).Gid)
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		w.distrusts(place, "can be written to by everybody")
	case mode&0o020 == 0:
	case group != 0 && !privateGroup(group, w.user):
		name := strconv.Itoa(group)
		if g, err := user.LookupGroupId(name); err == nil {
			name = g.Name
		}
		w.distrusts(place, "can be written to by the group "+name)
	case hasACL(place):
		w.distrusts(place, "can be written to by those in its access list")
	}
}

func (w *walk) distrusts(place, reason string) {
	if w.distrust == nil {
		w.distrust = &Error{Path: w.path, Place: place, Reason: reason}
	}
}

// privateGroup says whether a group is the user's private group. Debian, Ubuntu and Red Hat give each user
// a group of the same name, and make new files writable by it: to refuse this group would be to refuse
// everything that such a user has built.
//
// The name alone proves nothing, since an administrator can add members. So this machine's own lists must
// have the group, with no other member, and as nobody else's first group.
func privateGroup(group, owner int) bool {
	u, err := user.LookupId(strconv.Itoa(owner))
	if err != nil || u.Gid != strconv.Itoa(group) {
		return false
	}
	groups, err1 := os.ReadFile("/etc/group")
	users, err2 := os.ReadFile("/etc/passwd")
	return errors.Join(err1, err2) == nil && onlyMember(u.Username, u.Gid, string(groups), string(users))
}

// onlyMember says whether the lists have a group of the user's name with this id, and nobody else in it.
func onlyMember(name, gid, groups, users string) bool {
	found := false
	for _, line := range strings.Split(groups, "\n") {
		f := strings.Split(line, ":")
		if len(f) < 4 || f[2] != gid {
			continue
		}
		if f[0] != name || f[3] != "" && f[3] != name {
			return false
		}
		found = true
	}
	for _, line := range strings.Split(users, "\n") {
		if f := strings.Split(line, ":"); len(f) >= 4 && f[3] == gid && f[0] != name {
			return false
		}
	}
	return found
}

// below says whether a real path is below one of the folders. Whole names count: /opt/mpi2 is not below
// /opt/mpi.
func below(real string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		if !filepath.IsAbs(folder) {
			return false
		}
		folder, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return false
		}
		names, under := split(folder), split(real)
		return len(under) > len(names) && slices.Equal(names, under[:len(names)])
	})
}
