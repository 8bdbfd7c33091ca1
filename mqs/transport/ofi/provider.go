package ofi

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// provider is where the messages of an endpoint are, as one of libfabric's providers keeps them.
type provider interface {
	// readPosted, readSends and readUnexpected read the endpoint's receives, sends and messages. What is kept of the
	// last goes with the error.
	readPosted() error
	readSends() error
	readUnexpected() error
	// message reads a message of which something is at an address.
	message(at inferior.Addr) (transport.Message, error)
	// same is the peer by the first of the addresses that it has.
	same(p transport.Peer) transport.Peer
	// claimed reads the message that a context has claimed. It fails with [transport.ErrNoMessage] if there is none.
	claimed(context inferior.Addr) (transport.Message, error)
}

// named are the providers that are read, by what they call themselves.
var named = map[string]func(*Endpoint, *layout.Layouts) (provider, error){
	"shm":     openSMR,  // smr_prov, prov/shm/src/smr_init.c, 2.1 to 2.4
	"efa":     openEFA,  // efa_prov, prov/efa/src/efa_prov.c, from 1.19
	"lnx":     openLNX,  // lnx_prov, prov/lnx/src/lnx_init.c, from 2.0
	"ofi_rxm": openRXM,  // rxm_prov, prov/rxm/src/rxm_init.c
	"sm2":     openSM2,  // sm2_prov, prov/sm2/src/sm2_init.c, from 1.19
	"tcp":     openXNet, // xnet_prov, prov/tcp/src/xnet_init.c, from 1.18
}

// readProviders are the names of those that are read.
func readProviders() []string { return append(slices.Sorted(maps.Keys(named)), socketsName) }

const maxProviderName = 64 // bytes

// openProvider finds out whose endpoint it is. All providers but one have a util_ep, by which they name themselves.
func (e *Endpoint) openProvider(l *layout.Layouts) (provider, error) {
	name, err := e.nameOf(e.at)
	if err != nil {
		in, other := openSockets(e, l)
		if other != nil {
			return nil, errors.Join(err, fmt.Errorf("nor is it of the provider %s: %w", socketsName, other))
		}
		return in, nil
	}
	open := named[name]
	if open == nil {
		return nil, &ProviderError{name}
	}
	return open(e, l)
}

// nameOf is what the provider of an endpoint calls itself.
func (e *Endpoint) nameOf(at inferior.Addr) (string, error) {
	ep, err := e.UtilEP.Read(e.r, inferior.Ptr[utilEP](at))
	if err != nil {
		return "", err
	}
	d, err := e.UtilDomain.Read(e.r, ep.Domain)
	if err != nil {
		return "", err
	}
	p, err := e.Provider.Read(e.r, d.Provider)
	if err != nil {
		return "", err
	}
	name, err := p.Name.Read(e.r, maxProviderName)
	if err == nil && !isName(name) {
		err = fmt.Errorf("the provider of the domain at %s has no name", ep.Domain)
	}
	return name, err
}

// isName says whether a provider may be called so: "ofi_rxm", "tcp", "psm3".
func isName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != ""
}

// errNotClaimed says that a context has claimed nothing, or that the message has been received.
func errNotClaimed(context inferior.Addr) error {
	return fmt.Errorf("nothing is claimed by the context at %s: %w", context, transport.ErrNoMessage)
}
