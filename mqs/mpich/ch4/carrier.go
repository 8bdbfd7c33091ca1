package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// A message that came before its receive has a request of its own. Where the receive has one already, as one from any
// source does with two modules, both remain until the data is there: the message's has the data's place, and leads to the
// program's (MPIDIG_do_irecv in src/mpid/ch4/src/mpidig_recv.h).

// joinCarriers finds the messages' requests by the program's.
func (d *Device) joinCarriers(requests map[inferior.Ptr[mpir.Request]]*mpir.Operation) {
	if _, tells := inferior.OffsetOf(&d.c.Active, func(a *active) *inferior.Ptr[mpir.Request] { return &a.Match }); !tells {
		return
	}
	d.carriers, d.carrying = map[inferior.Ptr[mpir.Request]]inferior.Ptr[mpir.Request]{}, map[inferior.Ptr[mpir.Request]]bool{}
	for at, r := range requests {
		if r.Kind != mpir.KindRecv || r.IsComplete() || r.Comm == 0 {
			continue
		}
		q, err := d.devOf(at)
		if err != nil || !q.IsLocal || q.Active == 0 {
			continue
		}
		am, err := d.c.Active.Read(d.lib.Reader, q.Active)
		if err != nil || am.Status&activeMatched == 0 || am.Match == at {
			continue
		}
		if of := requests[am.Match]; of != nil && of.Kind == mpir.KindRecv && !of.IsComplete() && of.Comm == r.Comm {
			d.carriers[am.Match], d.carrying[at] = at, true
		}
	}
}

// carrier is the device's part of the request that has the data's place of a receive: mostly its own.
func (d *Device) carrier(r inferior.Ptr[mpir.Request], own dev) dev {
	if at, ok := d.carriers[r]; ok {
		if q, err := d.devOf(at); err == nil {
			return q
		}
	}
	return own
}
