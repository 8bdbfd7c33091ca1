package ofi

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// ofSMR are those of shm.
var ofSMR = []string{"smrTypes", "smrCopyTypes", "smrLaterStack", "smrFirstStack", "smrOwnTypes", "smrPendingTypes", "smrPeerTypes"}

// lacks are the types that a release did not have, or had in another form.
var lacks = map[string][]string{
	"libfabric 1.13":                      slices.Concat(ofSMR, []string{"opxTypes", "sharedTypes", "xnetTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 1.17":                      {"opxTypes", "sharedTypes", "xnetTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "sm2Types", "lnxTypes", "efaTypes", "smrLaterStack", "smrPendingTypes"},
	"libfabric 1.17 with psm3":            slices.Concat(ofSMR, []string{"opxTypes", "sharedTypes", "xnetTypes", "cxiTypes", "psm2Fabric", "rxmTypes", "socketsTypes", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 1.18":                      slices.Concat(ofSMR, []string{"opxTypes", "sharedTypes", "xnetTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 1.19":                      slices.Concat(ofSMR, []string{"opxTypes", "xnetTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 1.22":                      slices.Concat(ofSMR, []string{"opxTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "lnxTypes"}),
	"libfabric 2.1":                       {"opxTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "smrFirstStack", "smrOwnTypes", "smrPendingTypes"},
	"libfabric 2.5":                       {"opxTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "smrCopyTypes", "smrLaterStack", "smrFirstStack", "smrOwnTypes"},
	"libfabric 2.6":                       {"opxTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "smrCopyTypes", "smrLaterStack", "smrFirstStack", "smrOwnTypes"},
	"libfabric 2.1 with cxi":              {"opxTypes", "psm3Fabric", "psm2Fabric", "Types", "smrFirstStack", "smrOwnTypes", "smrPendingTypes"},
	"libfabric 2.1 with opx":              slices.Concat(ofSMR, []string{"xnetTypes", "cxiTypes", "psm3Fabric", "psm2Fabric", "Types", "rxmTypes", "socketsTypes", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 2.1 with psm3":             slices.Concat(ofSMR, []string{"opxTypes", "xnetTypes", "cxiTypes", "psm2Fabric", "rxmTypes", "socketsTypes", "sm2Types", "lnxTypes", "efaTypes"}),
	"libfabric 2.1 with psm3 without DSA": slices.Concat(ofSMR, []string{"opxTypes", "xnetTypes", "cxiTypes", "psm2Fabric", "rxmTypes", "socketsTypes", "sm2Types", "lnxTypes", "efaTypes"}),
}

// Every embedded table has every member that the reader needs.
func TestTablesAreWhole(t *testing.T) {
	releases := map[string]bool{}
	for _, table := range tables() {
		if releases[table.Release] {
			t.Errorf("%s is there twice", table.Release)
		}
		releases[table.Release] = true
		for _, types := range allTypes() {
			isLacking := inferior.Bind(types, table.Layouts(inferior.Queries(types))) != nil
			if isLacking != slices.Contains(lacks[table.Release], reflect.TypeOf(types).Elem().Name()) {
				t.Errorf("%s: lacks a part of %T: %v", table.Release, types, isLacking)
			}
		}
	}
}

// Debug information that lacks a type of the queue is not believed, where the table of the release has it.
func TestDebugInfoLacks(t *testing.T) {
	for _, c := range []struct {
		of      func(t *testing.T) *madeup
		lacking []string
	}{
		{makeUp, []string{"rxm_recv_queue", "rxm_recv_entry", "dlist_entry"}},
		{makeShared, []string{"util_srx_ctx", "util_rx_entry", "util_unexp_peer", "slist", "fi_provider"}},
	} {
		for _, lacks := range append(c.lacking, "") {
			m := c.of(t)
			for _, q := range inferior.Queries(allTypes()...) {
				if q.Name != lacks && m.l.Find(q.Name) != nil {
					m.Types[q.Name] = m.l.Find(q.Name)
				}
			}
			o, err := m.open()
			if err != nil || (o.LayoutName() == "") != (lacks == "") {
				t.Errorf("without %q: read by %+v, %v", lacks, o, err)
			}
		}
	}
}
