package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// beneath is an endpoint of a provider that another one has beneath its own: it takes messages for the other's queue, and
// sends for it.
type beneath interface {
	takes
	sending() ([]transport.Send, error)
}

// openBeneath opens the endpoint (struct fid_ep *) that a provider has beneath its own. It fails with a [ProviderError] if
// it is of a provider that is not read there.
func (e *Endpoint) openBeneath(l *layout.Layouts, at inferior.Addr) (beneath, error) {
	name, err := e.nameOf(at)
	if err != nil {
		return nil, err
	}
	switch name {
	case "shm":
		return openSMRTaker(e.r, l, at)
	case "sm2":
		return openSM2Taker(e.r, l, at)
	case "ofi_rxm":
		return openRXMTaker(e, l, at)
	}
	return nil, &ProviderError{name}
}

// rxmTaker is an endpoint of rxm's that another one has beneath its own. Its queues are the other's.
type rxmTaker struct{ *rxm }

func openRXMTaker(e *Endpoint, l *layout.Layouts, at inferior.Addr) (beneath, error) {
	own := *e // the same reader and types
	own.at, own.queues = at, transport.Queues{}
	x, err := openRXMWithout(&own, l)
	if err != nil {
		return nil, err
	}
	return rxmTaker{x}, x.readConns()
}

// sending reads the messages on their way, whose peers are not called so above.
func (x rxmTaker) sending() ([]transport.Send, error) {
	x.queues.Sends = nil
	err := x.readSends()
	for i := range x.queues.Sends {
		x.queues.Sends[i].Peer = transport.Peer{}
	}
	return x.queues.Sends, err
}

// errBeneath says that the messages of an endpoint beneath another one are not known.
func errBeneath(at inferior.Addr, err error) error {
	var other *ProviderError
	if errors.As(err, &other) {
		return fmt.Errorf("the endpoint at %s beneath is of the provider %s, whose messages are not read there", at, other.Provider)
	}
	return fmt.Errorf("the endpoint at %s beneath: %w", at, err)
}
