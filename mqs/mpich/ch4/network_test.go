package ch4

import (
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// library is a network library, and the netmod over it, with UCX's tags. It has matchers, or fails to open.
type library struct {
	matchers []transport.Matcher
	fails    error
}

var errAbsent = errors.New("it is not there")

func (l *library) name() string                  { return "a library" }
func (l *library) Name() string                  { return l.name() }
func (l *library) LayoutName() string            { return "" }
func (l *library) Matchers() []transport.Matcher { return l.matchers }
func (l *library) isAbsent(err error) bool       { return errors.Is(err, errAbsent) }
func (l *library) tags() *transport.Tags         { return &ucxTags }

func (l *library) mayRefuse() bool { return false }

func (l *library) open(*inferior.Reader) (transport.Transport, error) { return l, l.fails }

func (*library) doubt([]transport.Message) error { return nil }

func (l *library) proveMask(mask uint64) error {
	if mask == 0 {
		return errOtherTags
	}
	return nil
}

func (l *library) sender(_ *inferior.Reader, s *transport.Send) inferior.Ptr[mpir.Request] {
	return inferior.Ptr[mpir.Request](s.User)
}

func (l *library) receiver(q *transport.Receive) inferior.Ptr[mpir.Request] {
	return inferior.Ptr[mpir.Request](q.UserData)
}

func (l *library) elements(*inferior.Reader, *transport.Request) (Elements, bool) {
	return Elements{}, false
}

func (l *library) unpackTypes() any                           { return &struct{}{} }
func (l *library) bindUnpack(*layout.Layouts) (Unpack, error) { return nil, nil }

// matcher has queues, and a message that was taken out of them at taken.
type matcher struct {
	transport.Matcher
	queues transport.Queues
	taken  inferior.Addr
}

func (m *matcher) Queues() *transport.Queues { return &m.queues }

func (m *matcher) MessageAt(a inferior.Addr) (transport.Message, error) {
	if a != m.taken {
		return transport.Message{}, errors.New("no message")
	}
	return transport.Message{Addr: a}, nil
}

// What several matchers have is one network's; a receive's mask must be one that the netmod gives, but for that of
// a complete one, which has none any more.
func TestOpenNetwork(t *testing.T) {
	receive := func(state transport.State, mask uint64) transport.Receive {
		return transport.Receive{Request: transport.Request{State: state}, Mask: mask}
	}
	first := &matcher{queues: transport.Queues{Posted: []transport.Receive{receive(transport.Posted, 1)}, Matched: []transport.Receive{receive(transport.Complete, 0)},
		Sends: make([]transport.Send, 2), Waited: 3}}
	second := &matcher{queues: transport.Queues{Unexpected: make([]transport.Message, 1), UnexpectedErr: errAbsent, SendsErr: errAbsent, Offload: "a network card", Waited: 4}}
	n, err := openNetwork(nil, &library{matchers: []transport.Matcher{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Receives) != 2 || n.Receives[1].State != transport.Posted || len(n.Sends) != 2 || len(n.Unexpected) != 1 || n.UnexpectedErr == nil || n.SendsErr == nil || n.Offload != "a network card" || n.Progress.Value != 7 {
		t.Errorf("%+v", n)
	}
	first.queues.Posted[0].Mask = 0
	if _, err := openNetwork(nil, &library{matchers: []transport.Matcher{first}}); !errors.Is(err, errOtherTags) {
		t.Errorf("%v", err)
	}
}

// Of the libraries that a process does not have nothing is said if it has one that can't be read.
func TestNoNetwork(t *testing.T) {
	of := netmodsAlone
	defer func() { netmodsAlone = of }()
	failed := errors.New("it can't be read")
	for name, c := range map[string]struct {
		libraries []error
		want      error
		isAbsent  bool
	}{
		"none there":               {[]error{errAbsent, errAbsent}, errAbsent, true},
		"the first can't be read":  {[]error{failed, errAbsent}, failed, false},
		"the second can't be read": {[]error{errAbsent, failed}, failed, false},
		"the second can":           {[]error{errAbsent, nil}, nil, false},
	} {
		netmodsAlone = nil
		for _, err := range c.libraries {
			netmodsAlone = append(netmodsAlone, &library{fails: err})
		}
		n, err := OpenNetwork(nil)
		var network *NetworkError
		if !errors.Is(err, c.want) || (n != nil) != (c.want == nil) || errors.As(err, &network) && (network.IsAbsent != c.isAbsent || network.Library != "a library") {
			t.Errorf("%s: %v, %+v", name, err, network)
		}
	}
}

// A message that has been taken is any matcher's.
func TestMessageAt(t *testing.T) {
	n := &Network{Transport: &library{matchers: []transport.Matcher{&matcher{taken: 0x10}, &matcher{taken: 0x20}}}}
	for a, ok := range map[inferior.Addr]bool{0x10: true, 0x20: true, 0x30: false} {
		if m, err := n.messageAt(a); (err == nil) != ok || ok && m.Addr != a {
			t.Errorf("at %s: %+v, %v", a, m, err)
		}
	}
}
