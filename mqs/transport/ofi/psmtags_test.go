package ofi

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// Where no receive is posted, requests that are over tell how tags stand.
func TestPSMOldTags(t *testing.T) {
	tag60 := []transport.Message{{Tag: 7, Beside: mqs.Known[uint64](0)}}
	tag64 := []transport.Message{{Tag: 0x10000000_00000007}}
	for name, c := range map[string]struct {
		old  []set
		want []transport.Message
	}{
		"a receive in 60":   {[]set{psmWanted60(nil)}, tag60},
		"a receive in 64":   {[]set{psmWanted(nil)}, tag64},
		"data in 60":        {[]set{{"type": uint64(mq.IsSend), "req_data.tag.tag2": 5}}, tag60},
		"data in 64":        {[]set{{"type": uint64(mq.IsSend), "req_data.tag.tag2": 0x10000005}}, tag64},
		"no data":           {[]set{{"type": uint64(mq.IsSend)}}, nil},
		"another's":         {[]set{psmWanted(set{"mq": 1})}, nil},
		"never used":        {[]set{{"req_data.tag.tag2": 5}}, nil},
		"two that disagree": {[]set{psmWanted(nil), psmWanted60(nil)}, nil},
	} {
		m := makePSM(t)
		header, _ := m.l.Size("mpool_element")
		for _, at := range m.psmPool(psmSendsAt, psmSentAt, c.old...) {
			m.put("mpool_element", at-inferior.Addr(header), set{"me_mpool": 0})
		}
		m.put("mpool", psmSendsAt, set{"mp_num_obj_inuse": 0})
		all := m.psmArrive(nil, set{"req_data.tag.tag0": 7, "req_data.tag.tag1": 0x10000000})
		for i := range c.want {
			c.want[i].Addr = all[0]
		}
		_, q := m.mustOpen()
		if !reflect.DeepEqual(q.Unexpected, c.want) || errors.Is(q.UnexpectedErr, errPSMTags) != (c.want == nil) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, q.Unexpected, q.UnexpectedErr, c.want)
		}
	}
}
