package cluster

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func ranks(numbers ...int32) []mqs.Maybe[int32] {
	out := []mqs.Maybe[int32]{}
	for _, n := range numbers {
		m := mqs.Maybe[int32]{}
		if n >= 0 {
			m = mqs.Known(n)
		}
		out = append(out, m)
	}
	return out
}

// What is taken out of processes is put back as it was, and is kept once.
func TestGroups(t *testing.T) {
	for text, group := range map[string][]mqs.Maybe[int32]{
		"": ranks(), "0-3": ranks(0, 1, 2, 3), "3,2,1,0": ranks(3, 2, 1, 0), "7": ranks(7), "0-1,?,?,5,9-10": ranks(0, 1, -1, -1, 5, 9, 10),
	} {
		got, err := parseRanges(text, 7)
		if rangesOf(group) != text || !slices.Equal(got, group) || err != nil {
			t.Errorf("%q: %q, %v, %v", text, rangesOf(group), got, err)
		}
	}
	for _, text := range []string{",", "1-", "-1", "3-1", "x", "0-4294967295", "0-7", "99999999999", "0 - 1", "+1", "?,?,?,?,?,?,?,?"} {
		if got, err := parseRanges(text, 7); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	made := func() []*mqs.Process {
		var out []*mqs.Process
		for _, groups := range [][][]mqs.Maybe[int32]{{ranks(0, 1, 2), nil, ranks(1), ranks(5)}, {ranks(0, 1, 2), nil}, nil} {
			p := &mqs.Process{}
			for i := 0; i < len(groups); i += 2 {
				p.Communicators = append(p.Communicators, &mqs.Queues{Communicator: mqs.Communicator{Group: groups[i], RemoteGroup: groups[i+1]}})
			}
			out = append(out, p)
		}
		return out
	}
	s, all := shared{}, groups{}
	sent := made()
	s.take(sent)
	if !slices.Equal(s.Groups, []string{"0-2", "1", "5"}) || sent[0].Communicators[0].Group != nil {
		t.Errorf("%+v", s)
	}
	if err := s.give(sent, &all); err != nil {
		t.Fatal(err)
	}
	for i, p := range made() {
		for k, q := range p.Communicators {
			if got := sent[i].Communicators[k]; !slices.Equal(got.Group, q.Group) || !slices.Equal(got.RemoteGroup, q.RemoteGroup) || (got.RemoteGroup == nil) != (q.RemoteGroup == nil) {
				t.Errorf("%d, %d: %v and %v", i, k, got.Group, got.RemoteGroup)
			}
		}
	}
	if &sent[0].Communicators[0].Group[0] != &sent[1].Communicators[0].Group[0] {
		t.Error("a group is there twice")
	}
	for _, of := range [][][]int{nil, {{0, 0}}, {{0, 1, 2, 3}, {0, -1}, {}}, {{0, 1, 2, -2}, {0, -1}, {}}, {{0, 1}, {0, -1}, {}}} {
		if err := (&shared{s.Groups, of}).give(made(), &groups{}); err == nil {
			t.Errorf("%v fits", of)
		}
	}
	if _, err := (&groups{members: maxMembers - 2}).of("0-2"); err == nil {
		t.Error("there is no bound")
	}
}
