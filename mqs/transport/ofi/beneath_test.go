package ofi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// partly is an endpoint beneath of whose sends one is left out.
type partly struct{ beneath }

func (partly) sending() ([]transport.Send, error) {
	return []transport.Send{{Tag: 7}}, fmt.Errorf("%w: it is nowhere", errNoCommand)
}

// Sends that are left out beneath are said to be, and the others are shown.
func TestLeftOutBeneath(t *testing.T) {
	onLNX := &Endpoint{}
	onLNX.in = &lnx{Endpoint: onLNX, cores: map[inferior.Addr]lnxCore{1: {in: partly{}}}, order: []inferior.Addr{1}}
	onEFA := &Endpoint{}
	onEFA.in = &efa{sharedQueue: &sharedQueue{Endpoint: onEFA}, below: partly{}, ep: efaEP{Sends: link{Next: 1, Prev: 1}, SendsAt: 1}}
	for name, e := range map[string]*Endpoint{"lnx": onLNX, "efa": onEFA} {
		if err := e.in.readSends(); err != nil || len(e.queues.Sends) != 1 || !errors.Is(e.queues.SendsErr, errNoCommand) {
			t.Errorf("%s: %v, %+v, %v", name, err, e.queues.Sends, e.queues.SendsErr)
		}
	}
}
