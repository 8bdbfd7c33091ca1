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
	"shm":     openSMR,  // smr_prov, prov/shm/src/smr_init.c, from 1.17
	"efa":     openEFA,  // efa_prov, prov/efa/src/efa_prov.c, from 1.19
	"lnx":     openLNX,  // lnx_prov, prov/lnx/src/lnx_init.c, from 2.0
	"ofi_rxm": openRXM,  // rxm_prov, prov/rxm/src/rxm_init.c
	"sm2":     openSM2,  // sm2_prov, prov/sm2/src/sm2_init.c, from 1.19
	"tcp":     openXNet, // xnet_prov, prov/tcp/src/xnet_init.c, from 1.18
}

// unnamed are the providers that are read whose endpoints have no util_ep, in the order in which they are tried.
var unnamed = []struct {
	name     string
	endpoint string // its type
	open     func(*Endpoint, *layout.Layouts) (provider, error)
}{
	{cxiName, "cxip_ep", openCXI},         // cxip_prov, prov/cxi/src/cxip_info.c, from 1.22
	{psm3Name, "psmx3_fid_ep", openPSM3},  // psmx3_prov, prov/psm3/src/psmx3_init.c
	{psm2Name, "psmx2_fid_ep", openPSM2},  // psmx2_prov, prov/psm2/src/psmx2_init.c
	{opxName, "fi_opx_ep", openOPX},       // fi_opx_provider, prov/opx/src/fi_opx_init.c, 2.1 to 2.5
	{socketsName, "sock_ep", openSockets}, // sock_prov, prov/sockets/src/sock_fabric.c
}

// readProviders are the names of those that are read.
func readProviders() []string {
	out := slices.Sorted(maps.Keys(named))
	for _, p := range unnamed {
		out = append(out, p.name)
	}
	return out
}

const maxProviderName = 64 // bytes

// openProvider finds out whose endpoint it is. Most providers have a util_ep, by which they name themselves.
func (e *Endpoint) openProvider(l *layout.Layouts) (provider, error) {
	name, err := e.nameOf(e.at)
	if err != nil {
		for _, p := range unnamed {
			if l.Find(p.endpoint) == nil {
				continue
			}
			in, other := p.open(e, l)
			if other == nil {
				return in, nil
			}
			err = errors.Join(err, fmt.Errorf("nor is it of the provider %s: %w", p.name, other))
		}
		return nil, err
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
	return e.nameOfDomain(ep.Domain)
}

// nameOfDomain is what the provider of a domain calls itself.
func (e *Endpoint) nameOfDomain(domain inferior.Ptr[utilDomain]) (string, error) {
	d, err := e.UtilDomain.Read(e.r, domain)
	if err != nil {
		return "", err
	}
	p, err := e.Provider.Read(e.r, d.Provider)
	if err != nil {
		return "", err
	}
	name, err := p.Name.Read(e.r, maxProviderName)
	if err == nil && !isName(name) {
		err = fmt.Errorf("the provider of the domain at %s has no name", domain)
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
