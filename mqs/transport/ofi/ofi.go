// Package ofi reads the tag matching of libfabric, in which Open MPI's pml cm with mtl ofi and MPICH's ch4:ofi leave their
// messages: the posted receives, the unexpected messages and the messages that an endpoint is sending.
// What they mean to MPI is not known here: tags are libfabric's, of 64 bits, and peers its addresses.
//
// Each provider of libfabric has queues of its own, or takes those that its common code has for all. Read are those
// of rxm, which puts datagrams upon a provider of connections ("tcp;ofi_rxm", "verbs;ofi_rxm"): its own up to 1.22,
// and the common ones of 2.0 and 2.1. Nothing of them is exported: the
// way to them starts at the endpoint that the MPI keeps, and goes on by layouts from DWARF or from embedded
// tables, which prove themselves on the process before anything read by them is believed.
package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Name is what people call it.
const Name = "libfabric"

// rxmName is what the provider rxm calls itself (rxm_prov, prov/rxm/src/rxm_init.c).
const rxmName = "ofi_rxm"

const maxProviderName = 64 // bytes

// OFI is the libfabric of one process during one stop. It is a [transport.Transport].
type OFI struct {
	types
	r        *inferior.Reader
	layouts  *layout.Layouts
	endpoint *Endpoint
}

// ProviderError means that the endpoint is of a provider that is not read.
type ProviderError struct {
	// Provider is what it calls itself.
	Provider string
}

func (e *ProviderError) Error() string {
	return fmt.Sprintf("the messages are in libfabric's provider %s, which mpi-queues can't read: of libfabric it reads %s", e.Provider, rxmName)
}

// Open reads the endpoint that an MPI keeps (struct fid_ep *) by the layouts that fit it. It fails with a
// [ProviderError], or with an error that says why nothing fits.
func Open(r *inferior.Reader, endpoint inferior.Addr) (*OFI, error) {
	var other *ProviderError
	o, err := inferior.Fit(r, inferior.Queries(&types{}), tables(), func(l *layout.Layouts) (*OFI, error) {
		o := &OFI{r: r, layouts: l}
		if err := inferior.Bind(&o.types, l); err != nil {
			return nil, err
		}
		var err error
		o.endpoint, err = o.openEndpoint(inferior.Ptr[rxmEP](endpoint))
		errors.As(err, &other)
		return o, err
	})
	var noFit *inferior.NoFitError
	switch {
	case errors.As(err, &noFit) && other != nil:
		return nil, other
	case errors.As(err, &noFit):
		return nil, fmt.Errorf("libfabric has no type information that fits, and none of the layouts of it that mpi-queues knows (%s) does: "+
			"install the library's debug symbols, or `set debuginfod enabled on`\n%w", noFit.Known, noFit.Why)
	}
	return o, err
}

// Name is the transport's.
func (o *OFI) Name() string { return Name }

// LayoutName is the release whose layouts the process was read by, empty if they are from debug information.
func (o *OFI) LayoutName() string { return o.layouts.Name }

// Matchers are the endpoints of the process that are the MPI's.
func (o *OFI) Matchers() []transport.Matcher { return []transport.Matcher{o.endpoint} }

// proveProvider checks that an endpoint is of rxm's, by the name that its provider gives itself.
func (o *OFI) proveProvider(at inferior.Ptr[rxmDomain]) (rxmDomain, error) {
	d, err := o.Domain.Read(o.r, at)
	if err != nil {
		return d, err
	}
	p, err := o.Provider.Read(o.r, d.Provider)
	if err != nil {
		return d, err
	}
	name, err := p.Name.Read(o.r, maxProviderName)
	switch {
	case err != nil:
		return d, err
	case !isName(name):
		return d, fmt.Errorf("the provider of the domain at %s has no name", at)
	case name != rxmName:
		return d, &ProviderError{name}
	}
	return d, nil
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
