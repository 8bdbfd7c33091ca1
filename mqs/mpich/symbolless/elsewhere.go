package symbolless

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// otherNetworks begin the names of the libraries of network libraries beneath MPICH besides UCX.
const otherNetworks = "libfabric.so"

// errElsewhere is why a queue may have more than what is in the network library.
var errElsewhere = errors.New("messages between ranks of one machine may be in MPICH's own shared memory, which can't be read of a stripped MPICH")

// elsewhere is errElsewhere where the library may have a module of its own for ranks of one machine. A library that
// was configured for UCX alone has none unless it was asked for; one for several network libraries has one
// (--with-ch4-shmmods in src/mpid/ch4/subconfigure.m4, 4.0 to 5.0). The network libraries are linked with it.
func (s *Source) elsewhere() error {
	if slices.ContainsFunc(s.r.Info().Libraries, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), otherNetworks)
	}) {
		return errElsewhere
	}
	return nil
}

// noteElsewhere says what can be done about it.
const noteElsewhere = "this MPICH is one for several network libraries, and such a one passes messages between ranks of one machine " +
	"through shared memory of its own: with MPIR_CVAR_NOLOCAL=1 in the environment of the job they are left to %s, " +
	"and what is pending is shown"
