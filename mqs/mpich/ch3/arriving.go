package ch3

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// arrivalTypes are the shared memory through which the processes of a node send
// each other messages, of the channel nemesis (mpid_nem_defs.h, mpid_nem_datatypes.h; 4.0).
type arrivalTypes struct {
	Region  inferior.Struct[region]  `c:"MPID_nem_mem_region_t,optional"`
	Queue   inferior.Struct[queue]   `c:"MPID_nem_queue_t,optional"`
	Fastbox inferior.Struct[fastbox] `c:"MPID_nem_fastbox_t,optional"`
}

type region struct {
	Locals int32                               `c:"num_local"`
	Local  int32                               `c:"local_rank"`
	Boxes  inferior.Ptr[inferior.Ptr[fastbox]] `c:"mailboxes.in"`
	Queue  inferior.Ptr[queue]                 `c:"my_recvQ"`
}

// queue is empty if both pointers, which are relative, are 0.
type queue struct {
	Head inferior.Embedded[inferior.Addr] `c:"head"`
	Mine inferior.Embedded[inferior.Addr] `c:"my_head"`
}

// fastbox holds a message if its flag is set.
type fastbox struct {
	Flag int32 `c:"flag.v|flag"`
}

const maxLocals = 1 << 16 // processes of a node

// Arriving says whether messages lie before the process that its library has
// not looked at yet. Of what comes from other nodes it knows nothing.
func (d *Device) Arriving() mqs.Maybe[bool] {
	var unknown mqs.Maybe[bool]
	at, ok := d.lib.Symbols[symRegion]
	if !ok || d.lib.Process.Nodes > 1 || !d.arrivals.Region.Bound() || !d.arrivals.Queue.Bound() || !d.arrivals.Fastbox.Bound() {
		return unknown
	}
	node, err := d.arrivals.Region.Read(d.lib.Reader, inferior.Ptr[region](at.Addr))
	if err != nil || node.Locals < 1 || node.Locals > maxLocals || node.Queue == 0 {
		return unknown
	}
	q, err := d.arrivals.Queue.Read(d.lib.Reader, node.Queue)
	if err != nil {
		return unknown
	}
	if set := d.lib.AnySet(q.Head, q.Mine); !set.Known || set.Value || node.Boxes == 0 {
		return set
	}
	boxes, err := inferior.ReadPointers(d.lib.Reader, node.Boxes, int(node.Locals))
	if err != nil {
		return unknown
	}
	for i, box := range boxes {
		if i == int(node.Local) {
			continue
		}
		b, err := d.arrivals.Fastbox.Read(d.lib.Reader, box)
		if err != nil {
			return unknown
		}
		if b.Flag != 0 {
			return mqs.Known(true)
		}
	}
	return mqs.Known(false)
}
