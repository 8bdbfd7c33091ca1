package document

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// lenient takes what encoding/json took, with which documents were read before.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// process parses one process.
func (r *reader) process(text []byte) (*mqs.Process, error) {
	r.text = *bytes.NewBuffer(text)
	r.from.Reset(&r.text, lenient)
	r.err = nil
	out := &r.processes.room(1)[0]
	r.readProcess(out)
	r.end()
	for i := range out.Threads {
		// A thread in a call is where it is, also in a document that does not say so.
		t := &out.Threads[i]
		t.Placed = t.Placed || t.Call != ""
	}
	return out, r.err
}

// intern returns the one string that is kept of a text.
func (p *Parser) intern(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	p.mu.RLock()
	kept, ok := p.strings[string(text)]
	p.mu.RUnlock()
	if ok {
		return kept
	}
	s := string(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.strings == nil {
		p.strings = map[string]string{}
	}
	p.strings[s] = s
	return s
}

// group parses the ranks of a group. All members of a communicator have the
// same one, which is parsed and kept once.
func (r *reader) group() []mqs.Maybe[int32] {
	text := r.value()
	if text.Kind() == 'n' || r.err != nil {
		return nil
	}
	r.mu.RLock()
	kept, ok := r.groups[string(text)]
	r.mu.RUnlock()
	if ok {
		return kept
	}
	var ranks []*int32
	if err := json.Unmarshal(text, &ranks, lenient); err != nil {
		r.fail(err)
		return nil
	}
	group := make([]mqs.Maybe[int32], len(ranks))
	for i, rank := range ranks {
		if rank != nil {
			group[i] = mqs.Known(*rank)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[string][]mqs.Maybe[int32]{}
	}
	r.groups[string(text)] = group
	return group
}
