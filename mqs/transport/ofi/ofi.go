// Package ofi reads the tag matching of libfabric, in which Open MPI's pml cm with mtl ofi and MPICH's ch4:ofi leave their
// messages: the posted receives, the unexpected messages and the messages that an endpoint is sending.
// What they mean to MPI is not known here: tags are libfabric's, of 64 bits, and peers its addresses.
//
// Each provider of libfabric has queues of its own, or uses those that its common code has for all. These are read:
//   - of rxm, which puts datagrams on a provider of connections ("tcp;ofi_rxm", "verbs;ofi_rxm"): its own up to 1.22, and
//     the common ones from 2.0 on;
//   - of tcp, from 1.18, and of sockets;
//   - of shm: its own up to 1.18, and the common ones from 1.19 on;
//   - of psm3, tried through shared memory only;
//   - of sm2 and efa, from 1.19, and of lnx, from 2.0, written from their sources and not tried under an MPI. Endpoints of
//     other providers under those of efa and lnx receive messages for their queues and send for them;
//   - of cxi, psm2 and opx, written from their sources and not tried.
//
// None of these queues is exported: the way to them starts at the endpoint that the MPI keeps, and goes on by layouts from
// DWARF or from embedded tables, which prove themselves on the process before anything read by them is believed.
package ofi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Name is what people call it.
const Name = "libfabric"

// OFI is the libfabric of one process during one stop. It is a [transport.Transport].
type OFI struct {
	layouts  *layout.Layouts
	endpoint *Endpoint
}

// ProviderError means that the endpoint is of a provider that is not read.
type ProviderError struct {
	// Provider is what it calls itself.
	Provider string
}

// AnyNetwork is a provider that is read and needs no network but IP, as FI_PROVIDER has it.
const AnyNetwork = "tcp;ofi_rxm"

func (e *ProviderError) Error() string {
	return fmt.Sprintf("the messages are in libfabric's provider %s, which mpi-queues can't read: of libfabric it reads %s. "+
		"With FI_PROVIDER='%s' in its environment, a job's messages are in one of these wherever IP connects the machines",
		e.Provider, strings.Join(readProviders(), ", "), AnyNetwork)
}

// Open reads the endpoint that an MPI keeps (struct fid_ep *) by the layouts that fit it. It fails with a
// [ProviderError], or with an error that says why nothing fits.
func Open(r *inferior.Reader, endpoint inferior.Addr) (*OFI, error) {
	var other *ProviderError
	o, err := inferior.Fit(r, inferior.Queries(allTypes()...), tables(), nil, func(l *layout.Layouts) (*OFI, error) {
		e, err := openEndpoint(r, l, endpoint)
		errors.As(err, &other)
		return &OFI{l, e}, err
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

// Endpoint is the endpoint that was opened.
func (o *OFI) Endpoint() *Endpoint { return o.endpoint }

// Matchers are the endpoints of the process that are the MPI's.
func (o *OFI) Matchers() []transport.Matcher { return []transport.Matcher{o.endpoint} }
