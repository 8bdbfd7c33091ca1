package ofi

import (
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// An endpoint that has nothing is one of the release whose layouts fit.
func TestOpen(t *testing.T) {
	o, err := makeUp(t).open()
	if err != nil || o.Name() != "libfabric" || o.LayoutName() != "libfabric 1.17" || len(o.Matchers()) != 1 || o.Matchers()[0].Addr() != endpointAt {
		t.Fatalf("%+v, %v", o, err)
	}
	if q := o.Matchers()[0].Queues(); !q.Uncounted || len(q.Posted)+len(q.Sends)+len(q.Unexpected)+len(q.Matched) != 0 || q.UnexpectedErr != nil {
		t.Errorf("%+v", q)
	}
	if _, _, ok := o.endpoint.SendAt(endpointAt); ok {
		t.Error("a send is known that nothing leads to")
	}
	if _, ok := o.endpoint.ReceiveAt(endpointAt); ok {
		t.Error("a receive is known that is in no queue")
	}
}

// The provider says what it is called; another one than rxm is named to the user.
func TestProvider(t *testing.T) {
	for name, isOther := range map[string]bool{"udp": true, "net2": true, "a_z09": true, "": false, "Tcp": false, "a`": false, "a{": false,
		"a/": false, "a:": false, strings.Repeat("a", maxProviderName+1): false} {
		m := makeUp(t)
		m.Put(providerAt+0x100, []byte(name+"\x00"))
		_, err := m.open()
		var other *ProviderError
		switch {
		case err == nil || errors.As(err, &other) != isOther:
			t.Errorf("%q: %v", name, err)
		case isOther && (other.Provider != name || !strings.Contains(err.Error(), "provider "+name+",") || !strings.Contains(err.Error(), "it reads "+strings.Join(readProviders(), ", ")+". With FI_PROVIDER='tcp;ofi_rxm' ")):
			t.Errorf("%q: %v", name, err)
		case !isOther && !strings.Contains(err.Error(), "install the library's debug symbols"):
			t.Errorf("%q: %v", name, err)
		}
	}
}

// An endpoint that can't be read is not there.
func TestOpenNowhere(t *testing.T) {
	if _, err := Open(inferior.NewReader(t.Context(), makeUp(t)), nowhere); err == nil {
		t.Error("an endpoint that is not there was read")
	}
}
