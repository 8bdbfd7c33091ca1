package derived

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// worldHandle is MPI_COMM_WORLD's, which these libraries share with MPICH (its ABI compatibility initiative).
const worldHandle = 0x44000000

// Source shows MPI_COMM_WORLD, of which the launcher has told the rank and the size, and of the queues why they are not
// known. It is a [read.Source].
type Source struct {
	r       *inferior.Reader
	library *Library
}

// Unreadable is the error of a process whose library has no types that fit. With it comes what is known all the same.
func Unreadable(r *inferior.Reader, l *Library) error {
	base := strings.TrimSpace("MPICH " + printable.Line(l.Base))
	err := read.Unreadable(l.Name, "%s is %s, which was derived from %s, and there are no types by which its message queues could be read",
		read.FileName(l.Root), l.Words(), base)
	var u *read.UnreadableError
	if errors.As(err, &u) {
		s := &Source{r, l}
		u.Handles, u.Rest = s, s
	}
	return err
}

// Info fills in what is known of the process as a whole. How far it has come with MPI is not known.
func (s *Source) Info(p *mqs.Process) {
	p.MPI, p.MPIVersion, p.Library = s.library.Name, s.library.Version, s.library.Root.Object
	p.Source, p.Phase = "native", ""
}

// Notes says what the process can be asked all the same.
func (s *Source) Notes() []string {
	return []string{fmt.Sprintf("of %s, the calls that threads are in are shown, as far as its functions have names, and not what is pending", s.library.Name)}
}

// Communicators yields MPI_COMM_WORLD.
func (s *Source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		c := mqs.Communicator{UniqueID: worldHandle, Name: mqs.Known("MPI_COMM_WORLD"), Inter: mqs.Known(false)}
		if rank := s.r.Info().Rank; rank != nil {
			c.LocalRank = mqs.Known(*rank)
		}
		if size := s.r.Info().WorldSize; size != nil {
			c.Size, c.Group = mqs.Known(*size), mqs.WholeGroup(*size)
		}
		c.Handle, c.FortranHandle = mqs.Known[inferior.Addr](worldHandle), mqs.Known[int32](worldHandle)
		if mpir.IsABI(s.library.Root.Object) {
			c.Handle, c.FortranHandle = mqs.Known[inferior.Addr](mpir.ABIWorld), mqs.Known[int32](mpir.ABIWorld)
		}
		yield(c, nil)
	}
}

// errQueue is why a queue is not known. The notes say more.
var errQueue = errors.New("it is not known how the library keeps it")

// Operations yields why a queue can't be read.
func (s *Source) Operations(*mqs.Communicator, mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) { yield(mqs.PendingOperation{}, errQueue) }
}

// Resolve says what a handle stands for, as far as it is a constant of mpi.h (read.Resolver).
func (s *Source) Resolve(v mqs.HandleValue) *mqs.Handle {
	return mpir.NewBare(s.r, s.library.Root).Resolve(v)
}
