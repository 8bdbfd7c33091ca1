package ch3

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// The device has no list of sends to oneself, whose messages stand among the unexpected ones. It leaves
// nothing to a library beneath it, and has no partitioned operations.

// SentToSelf finds no such list.
func (d *Device) SentToSelf() (inferior.Ptr[mpir.Request], bool) { return 0, false }

// ToSelf finds no message in a send.
func (d *Device) ToSelf(*mpir.Operation) (mpir.Message, bool) { return mpir.Message{}, false }

// IsPartner tells none.
func (d *Device) IsPartner(*mpir.Operation) bool { return false }

// Partitioned knows none.
func (d *Device) Partitioned(*mpir.Operation) (mpir.Partitioned, bool, error) {
	return mpir.Partitioned{}, false, nil
}

// Open opens nothing beneath.
func (d *Device) Open() {}

// UnknownSends has nothing to say: all of a send is kept.
func (d *Device) UnknownSends() string { return "" }

// Join finds nothing more.
func (d *Device) Join(_ map[inferior.Ptr[mpir.Request]]*mpir.Operation, _ []*mpir.Communicator, listed []*mpir.Operation) ([]*mpir.Operation, []*mpir.Communicator) {
	return listed, nil
}

// Messages finds none.
func (d *Device) Messages(*mpir.Communicator) ([]mqs.PendingOperation, error) { return nil, nil }

// Elsewhere says that nothing is.
func (d *Device) Elsewhere(*mpir.Communicator) error { return nil }
