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
	// sending reads the messages on their way. [errNoCommand] comes with those that are left.
	sending() ([]transport.Send, error)
}

// errNotBeneath means that a message is left out since what has taken it is not read.
var errNotBeneath = errors.New("messages are left out that an endpoint beneath has")

// openBeneath opens the endpoint (struct fid_ep *) that a provider has beneath its own. It fails with [errNotBeneath] if
// that can't be read.
func (e *Endpoint) openBeneath(l *layout.Layouts, at inferior.Addr) (in beneath, err error) {
	name, err := e.nameOf(at)
	if err == nil {
		switch name {
		case "shm":
			in, err = openSMRTaker(e.r, l, at)
		case "sm2":
			in, err = openSM2Taker(e.r, l, at)
		case "ofi_rxm":
			in, err = openRXMTaker(e, l, at)
		default:
			err = fmt.Errorf("the provider %s is not read there", name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w, at %s: %w", errNotBeneath, at, err)
	}
	return in, nil
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
