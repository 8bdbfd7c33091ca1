package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smrPeers are the names of an endpoint's peers, which shm numbers. One without a map knows none.
type smrPeers struct {
	smrPeerTypes
	r     *inferior.Reader
	first inferior.Ptr[smrPeer]
	known map[int64]transport.Peer
}

// smrPeerTypes are those of what an endpoint of shm's knows of its peers (prov/shm/src/smr.h, include/ofi_shm.h, 1.17 to
// 2.6).
type smrPeerTypes struct {
	AV   inferior.Struct[smrAV]   `c:"smr_av"`
	Map  inferior.Struct[smrMap]  `c:"smr_map"`
	Peer inferior.Struct[smrPeer] `c:"smr_peer"`
}

// smrAV has the map, or up to 1.22 a pointer to it.
type smrAV struct {
	Map inferior.Embedded[smrMap] `c:"smr_map"`
}

type smrMap struct {
	Peers inferior.Embedded[smrPeer] `c:"peers"` // an array
}

type smrPeer struct {
	Address uint64        `c:"fiaddr"`
	Region  inferior.Addr `c:"region"` // its memory, once it has been found
	// Number is its place in the array. From 2.5 on it is only said whether there is a peer.
	Number   int64                    `c:"peer.id,optional"`
	NumberAt inferior.Embedded[int64] `c:"peer.id,optional"`
	IsThere  bool                     `c:"id_assigned,optional"`
}

// maxSMRPeers is how many peers there can be (SMR_MAX_PEERS).
const maxSMRPeers = 256

func openSMRPeers(r *inferior.Reader, l *layout.Layouts, ep *smrEP) *smrPeers {
	p := &smrPeers{r: r, known: map[int64]transport.Peer{}}
	if err := inferior.Bind(&p.smrPeerTypes, l); err != nil || ep.AV == 0 {
		return p
	}
	at := inferior.Places(&p.AV, ep.AV).Map.Ptr()
	if f, _ := l.Field("smr_av", "smr_map"); f.Kind == layout.KindPointer {
		held, err := r.Pointers(at.Addr(), 1)
		if err != nil {
			return p
		}
		at = inferior.Ptr[smrMap](held[0])
	}
	p.first = inferior.Places(&p.Map, at).Peers.Ptr()
	return p
}

// named is the peer of a number, not known if the peer itself does not say that it is. One that is sent to has been found.
func (p *smrPeers) named(number int64) transport.Peer {
	if p.first == 0 || number < 0 || number >= maxSMRPeers {
		return transport.Peer{}
	}
	if known, ok := p.known[number]; ok {
		return known
	}
	peer, err := p.Peer.Read(p.r, inferior.At(&p.Peer, p.first, int(number)))
	isIt := peer.IsThere || peer.NumberAt != 0 && peer.Number == number
	if err == nil && isIt && peer.Region != 0 {
		p.known[number] = peerOf(peer.Address)
	}
	return p.known[number]
}
