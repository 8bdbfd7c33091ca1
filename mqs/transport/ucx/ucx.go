// Package ucx reads the tag matching of UCX, in which Open MPI's pml ucx and
// MPICH's ch4:ucx leave their messages: the posted receives, the unexpected
// messages and the requests of each worker that the MPI has in a process. What they
// mean to MPI is not known here: tags are UCX's, of 64 bits.
//
// Nothing of that is exported. The way to it starts at the tree of objects that
// UCX keeps for files that show them (ucs_vfs_obj_context, from UCX 1.11), and
// goes on by layouts from DWARF or from embedded tables, which prove themselves on
// the process before anything read by them is believed.
package ucx

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Name is what people call it.
const Name = "UCX"

// Global symbols, all of them in .dynsym of stripped libraries too.
const (
	symTree       = "ucs_vfs_obj_context"   // struct of ucs/vfs/base/vfs_obj.c
	symRequestOps = "ucp_request_mpool_ops" // ucs_mpool_ops_t
)

// Symbols are the roots that [Open] wants.
var Symbols = []string{symTree, symRequestOps}

// UCX is the UCX of one process during one stop. It is a [transport.Transport].
type UCX struct {
	types
	r       *inferior.Reader
	symbols map[string]inferior.Symbol
	layouts *layout.Layouts
	user    int

	workers []*Worker
	// What new protocols are for and how their names begin, by their configuration.
	operations map[inferior.Ptr[protoConfig]]uint8
	families   map[inferior.Ptr[protoConfig]]string
}

// ErrNone means that there is no UCX in a process, or none that keeps the tree.
var ErrNone = errors.New("there is no UCX of release 1.11 or later in the process")

// Open finds the MPI's workers in a process and the layouts that fit it. The MPI keeps
// user bytes of its own behind each request, which it asks UCX for when it makes the
// context: other libraries' workers differ in that. Open fails with [ErrNone], or with an
// error that says why nothing fits.
func Open(r *inferior.Reader, symbols map[string]inferior.Symbol, user int) (*UCX, error) {
	root, ok := symbols[symTree]
	if !ok {
		return nil, ErrNone
	}
	u, err := inferior.Fit(r, inferior.Queries(&types{}), tables(), nil, func(l *layout.Layouts) (*UCX, error) {
		u := &UCX{r: r, symbols: symbols, layouts: l, user: user, operations: map[inferior.Ptr[protoConfig]]uint8{}, families: map[inferior.Ptr[protoConfig]]string{}}
		if err := inferior.Bind(&u.types, l); err != nil {
			return nil, err
		}
		return u, u.read()
	})
	var noFit *inferior.NoFitError
	if errors.As(err, &noFit) {
		return nil, fmt.Errorf("%s has no type information that fits, and none of the layouts of UCX that mpi-queues knows (%s) does: "+
			"install the library's debug symbols, or `set debuginfod enabled on`\n%w", filepath.Base(root.Object), noFit.Known, noFit.Why)
	}
	return u, err
}

// Name is the transport's.
func (u *UCX) Name() string { return Name }

// LayoutName is the release whose layouts the process was read by, empty if they
// are from debug information.
func (u *UCX) LayoutName() string { return u.layouts.Name }

// Matchers are the MPI's workers, in the order of their making.
func (u *UCX) Matchers() []transport.Matcher {
	out := make([]transport.Matcher, len(u.workers))
	for i, w := range u.workers {
		out[i] = w
	}
	return out
}
