package ucx

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What a protocol is for must agree with its name.
func TestOperations(t *testing.T) {
	for name, want := range map[string][2]uint8{
		"egr": {0, 1}, "tag": {0, 1}, "egrsnc": {1, 1}, "am": {2, opMask}, "rndv": {2, opMask}, "reconfig": {0, opMask},
	} {
		if least, most := operationsOf(name); least != want[0] || most != want[1] {
			t.Errorf("%s is for %d to %d, want %d to %d", name, least, most, want[0], want[1])
		}
	}
}

// A receive has its data where it is contiguous; else what the MPI keeps of it.
func TestReceive(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	of := request{RecvBuffer: 0x40, RecvLength: 12, RecvState: 0x80, RecvTag: 7, RecvMask: 3, SenderTag: 9, InfoLength: 5}
	for name, c := range map[string]struct {
		change    func(r *request)
		state     transport.State
		buffer    inferior.Addr
		length    int64
		generic   inferior.Addr
		cancelled bool
		card      bool
	}{
		"contiguous":               {func(*request) {}, transport.Posted, 0x40, 12, 0, false, false},
		"generic":                  {func(r *request) { r.RecvType = classGeneric }, transport.Posted, 0, -1, 0x80, false, false},
		"of another class":         {func(r *request) { r.RecvType = 1 }, transport.Posted, 0, -1, 0, false, false},
		"of a type with more bits": {func(r *request) { r.RecvType = 0x100 }, transport.Posted, 0x40, 12, 0, false, false},
		"longer than can be":       {func(r *request) { r.RecvLength = 1 << 63 }, transport.Posted, 0x40, -1, 0, false, false},
		"cancelled":                {func(r *request) { r.Status = statusCancelled }, transport.Complete, 0x40, 12, 0, true, false},
		"cancelled, not yet":       {func(r *request) { r.Status = statusCancelled }, transport.Matched, 0x40, 12, 0, false, false},
		"failed":                   {func(r *request) { r.Status = statusCancelled + 1 }, transport.Complete, 0x40, 12, 0, false, false},
		"with a card":              {func(r *request) { r.Flags = flagOffloaded }, transport.Posted, 0x40, 12, 0, false, true},
	} {
		r := of
		c.change(&r)
		got := u.receive(requestAt{0x1000, r}, c.state)
		if got.Buffer != c.buffer || got.Length != c.length || got.Generic != c.generic || got.Cancelled != c.cancelled || got.Offloaded != c.card || got.Tag != 7 || got.SenderTag != 9 || got.Received != 5 || got.State != c.state {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A send is one by the old protocols, or by a new one that was selected for it; a rendezvous that was answered has lost its
// tag.
func TestSend(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	const tag, sync, rndv, am = 0x10, 0x20, 0x30, 0x40 // configurations
	for config, op := range map[inferior.Ptr[protoConfig]]uint8{tag: opTagSend, sync: opTagSendSync, rndv: opTagSendSync + 1, am: opTagSendSync + 1} {
		u.operations[config] = op
	}
	u.families[rndv], u.families[am] = "rndv", "am"
	of := request{SendTag: 7, Endpoint: 0x99, SendBuffer: 0x40, SendLength: 12, SendState: 0x80, IterBuffer: 0x140, IterLength: 13, IterState: 0x180}
	for name, c := range map[string]struct {
		change   func(r *request)
		is       bool
		state    transport.State
		buffer   inferior.Addr
		length   int64
		generic  inferior.Addr
		sync     bool
		tagLost  bool
		released bool
	}{
		"old":                        {func(r *request) { r.Flags = flagSendTag }, true, 0, 0x40, 12, 0, false, false, false},
		"old, synchronous":           {func(r *request) { r.Flags = flagSendTag | flagSync }, true, 0, 0x40, 12, 0, true, false, false},
		"old, complete":              {func(r *request) { r.Flags = flagSendTag | flagCompleted }, true, transport.Complete, 0x40, 12, 0, false, false, false},
		"old, released":              {func(r *request) { r.Flags = flagSendTag | flagReleased }, true, 0, 0x40, 12, 0, false, false, true},
		"old, generic":               {func(r *request) { r.Flags, r.SendType = flagSendTag, classGeneric }, true, 0, 0, 12, 0x80, false, false, false},
		"old, generic and sent":      {func(r *request) { r.Flags, r.SendType = flagSendTag|flagSent, classGeneric }, true, 0, 0, 12, 0, false, false, false},
		"old, generic and complete":  {func(r *request) { r.Flags, r.SendType = flagSendTag|flagCompleted, classGeneric }, true, transport.Complete, 0, 12, 0, false, false, false},
		"old, of another class":      {func(r *request) { r.Flags, r.SendType = flagSendTag, 1 }, true, 0, 0, 12, 0, false, false, false},
		"new":                        {func(r *request) { r.Flags, r.Config = flagProtoSend, tag }, true, 0, 0x140, 13, 0, false, false, false},
		"new, synchronous":           {func(r *request) { r.Flags, r.Config = flagProtoSend, sync }, true, 0, 0x140, 13, 0, true, false, false},
		"new, generic":               {func(r *request) { r.Flags, r.Config, r.IterType = flagProtoSend, tag, classGeneric }, true, 0, 0, 13, 0x180, false, false, false},
		"new, answered":              {func(r *request) { r.Flags, r.Config = flagProtoSend|flagCallback, rndv }, true, transport.Matched, 0x140, 13, 0, false, true, false},
		"new, answered and complete": {func(r *request) { r.Flags, r.Config = flagProtoSend|flagCallback|flagCompleted, rndv }, true, transport.Complete, 0x140, 13, 0, false, true, false},
		"a part of a message":        {func(r *request) { r.Flags, r.Config = flagProtoSend, rndv }, false, 0, 0, 0, 0, false, false, false},
		"an active message":          {func(r *request) { r.Flags, r.Config = flagProtoSend|flagCallback, am }, false, 0, 0, 0, 0, false, false, false},
		"new, without a protocol":    {func(r *request) { r.Flags = flagProtoSend }, false, 0, 0, 0, 0, false, false, false},
		"no send":                    {func(*request) {}, false, 0, 0, 0, 0, false, false, false},
		"no send, with a protocol":   {func(r *request) { r.Config = tag }, false, 0, 0, 0, 0, false, false, false},
	} {
		r := of
		c.change(&r)
		got, ok, err := u.send(requestAt{0x1000, r})
		if err != nil || ok != c.is || ok && (got.State != c.state || got.Buffer != c.buffer || got.Length != c.length || got.Generic != c.generic || got.Sync != c.sync || got.TagLost != c.tagLost || got.Released != c.released) {
			t.Errorf("%s: %+v, %t, %v", name, got, ok, err)
		}
		if ok && (got.Tag != 7 || got.Peer != mqs.Known[uint64](0x99) || got.User != 0x1000+inferior.Addr(u.Request.Size())) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	r := of
	r.Flags, r.Config = flagProtoSend, 0x9000_0000
	if _, ok, err := u.send(requestAt{0x1000, r}); ok || err == nil {
		t.Errorf("of a protocol that can't be read: %t, %v", ok, err)
	}
}

// Outside of the pool, a request is one of a worker's that it names itself, as long as it is not complete.
func TestRequestsElsewhere(t *testing.T) {
	const page = inferior.Addr(0x1000_0000)
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	endpoint := w.queues.Sends[0].Peer.Value
	offset := func(path string) inferior.Addr {
		f, ok := u.layouts.Field(u.Request.Name(), path)
		if !ok {
			t.Fatalf("no %s", path)
		}
		return inferior.Addr(f.Offset)
	}
	for name, c := range map[string]struct {
		flags                uint32
		id                   inferior.Addr
		endpoint, worker     uint64
		isSend, proved, recv bool
	}{
		"a send":                      {flagSendTag, page, endpoint, 0, true, true, false},
		"a send with another id":      {flagSendTag, page + 8, endpoint, 0, true, false, false},
		"a send that is complete":     {flagSendTag | flagCompleted, page, endpoint, 0, false, false, false},
		"a send of no endpoint":       {flagSendTag, page, 0x9000_0000, 0, false, false, false},
		"a send of another's":         {flagSendTag, page, uint64(page + 0x800), 0, false, false, false},
		"no request":                  {0, page, endpoint, uint64(w.at), false, false, false},
		"a receive":                   {flagRecvTag, 0, 0, uint64(w.at), false, false, true},
		"a receive that is complete":  {flagRecvTag | flagCompleted, 0, 0, uint64(w.at), false, false, false},
		"a receive of another worker": {flagRecvTag, 0, 0, uint64(w.at) + 8, false, false, false},
	} {
		p := recorded(t).AddMemory(page, make([]byte, inferiortest.Page))
		isReceive := c.flags&flagRecvTag != 0 || c.worker != 0
		p.PutUint32(page+offset("flags"), c.flags)
		if isReceive {
			p.PutUint64(page+offset("recv.worker"), c.worker)
		} else {
			p.PutUint64(page+offset("id"), uint64(c.id)).PutUint64(page+offset("send.ep"), c.endpoint)
		}
		of, err := open(t, p)
		if err != nil {
			t.Fatal(err)
		}
		_, proved, isSend := of.workers[0].SendAt(page)
		r, recv := of.workers[0].ReceiveAt(page)
		if isSend != c.isSend || isSend && proved != c.proved || recv != c.recv || recv && r.State != transport.Matched {
			t.Errorf("%s: a send: %t (proved %t), a receive: %t", name, isSend, proved, recv)
		}
	}
	if _, _, ok := w.SendAt(0x9000_0000); ok {
		t.Error("there is a send where nothing can be read")
	}
	if _, ok := w.ReceiveAt(0x9000_0000); ok {
		t.Error("there is a receive where nothing can be read")
	}
	if _, ok := w.ReceiveAt(w.queues.Posted[0].Addr); ok {
		t.Error("a receive that is posted has matched")
	}
}

// A length is none that can't be a signed number.
func TestLength(t *testing.T) {
	for v, want := range map[uint64]int64{0: 0, 5: 5, 1<<63 - 1: 1<<63 - 1, 1 << 63: -1, ^uint64(0): -1} {
		if got := length(v); got != want {
			t.Errorf("%#x is %d, want %d", v, got, want)
		}
	}
}
