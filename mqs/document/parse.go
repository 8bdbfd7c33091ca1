package document

import (
	"encoding/json"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// process parses one process. What it has not is not known.
func (p *Parser) process(text []byte) (*mqs.Process, error) {
	var doc processJSON
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return p.model(&doc)
}

// intern returns the one copy of a string that is kept.
func (p *Parser) intern(s string) string {
	if s == "" {
		return ""
	}
	p.mu.RLock()
	kept, ok := p.strings[s]
	p.mu.RUnlock()
	if ok {
		return kept
	}
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
func (p *Parser) group(text json.RawMessage) ([]mqs.Maybe[int32], error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	p.mu.RLock()
	kept, ok := p.groups[string(text)]
	p.mu.RUnlock()
	if ok {
		return kept, nil
	}
	var ranks []*int32
	if err := json.Unmarshal(text, &ranks); err != nil {
		return nil, err
	}
	group := make([]mqs.Maybe[int32], len(ranks))
	for i, r := range ranks {
		group[i] = from(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.groups == nil {
		p.groups = map[string][]mqs.Maybe[int32]{}
	}
	p.groups[string(text)] = group
	return group, nil
}

type processJSON struct {
	Inferior      int                `json:"inferior"`
	PID           int                `json:"pid"`
	GlobalRank    *int32             `json:"global_rank"`
	WorldSize     *int32             `json:"world_size"`
	Image         string             `json:"image"`
	MPI           string             `json:"mpi"`
	MPIVersion    string             `json:"mpi_version"`
	Library       string             `json:"library"`
	Source        string             `json:"source"`
	DLL           string             `json:"dll"`
	DLLVersion    string             `json:"dll_version"`
	Layout        string             `json:"layout"`
	LayoutName    string             `json:"layout_name"`
	Unavailable   string             `json:"unavailable"`
	Communicators []communicatorJSON `json:"communicators"`
	Differences   []differenceJSON   `json:"differences"`
	Notes         []string           `json:"notes"`

	Phase          string       `json:"phase"`
	State          string       `json:"state"`
	Arriving       *bool        `json:"arriving"`
	Progress       *uint64      `json:"progress"`
	ThreadMultiple *bool        `json:"thread_multiple"`
	Threads        []threadJSON `json:"threads"`
}

type threadJSON struct {
	Number      int             `json:"number"`
	Placed      bool            `json:"placed"`
	Call        string          `json:"call"`
	Activity    string          `json:"activity"`
	Joined      *int            `json:"joined"`
	Function    string          `json:"function"`
	File        string          `json:"file"`
	Line        int             `json:"line"`
	Comm        *inferior.Addr  `json:"communicator"`
	Root        *int32          `json:"root"`
	Source      *int32          `json:"source"`
	Tag         *int32          `json:"tag"`
	Requests    []inferior.Addr `json:"requests"`
	AllRequests bool            `json:"all_requests"`
}

type differenceJSON struct {
	Communicator string `json:"communicator"`
	Queue        string `json:"queue"`
	Operation    *int   `json:"operation"`
	Field        string `json:"field"`
	Native       string `json:"native"`
	DLL          string `json:"dll"`
}

type communicatorJSON struct {
	UniqueID           inferior.Addr     `json:"unique_id"`
	LocalRank          *int32            `json:"local_rank"`
	Size               *int32            `json:"size"`
	Name               *string           `json:"name"`
	Inter              *bool             `json:"inter"`
	Internal           bool              `json:"internal"`
	Group              json.RawMessage   `json:"group"`
	RemoteGroup        json.RawMessage   `json:"remote_group"`
	PendingSends       []operationJSON   `json:"pending_sends"`
	PendingReceives    []operationJSON   `json:"pending_receives"`
	UnexpectedMessages []operationJSON   `json:"unexpected_messages"`
	Unavailable        map[string]string `json:"unavailable"`
	Totals             map[string]*int   `json:"totals"`
	Context            string            `json:"context"`
	Traffic            [][3]int32        `json:"traffic"`
}

type operationJSON struct {
	Status            string         `json:"status"`
	DesiredLocalRank  *int32         `json:"desired_local_rank"`
	DesiredGlobalRank *int32         `json:"desired_global_rank"`
	TagWild           *bool          `json:"tag_wild"`
	DesiredTag        *int32         `json:"desired_tag"`
	DesiredLength     *int64         `json:"desired_length"`
	SystemBuffer      *bool          `json:"system_buffer"`
	Buffer            *inferior.Addr `json:"buffer"`
	ActualLocalRank   *int32         `json:"actual_local_rank"`
	ActualGlobalRank  *int32         `json:"actual_global_rank"`
	ActualTag         *int32         `json:"actual_tag"`
	ActualLength      *int64         `json:"actual_length"`
	ExtraText         []string       `json:"extra_text"`
	Kind              string         `json:"kind"`
	Datatype          *string        `json:"datatype"`
	Count             *int64         `json:"count"`
	Request           *inferior.Addr `json:"request"`
	MessageID         *inferior.Addr `json:"message_id"`
	Internal          bool           `json:"internal"`
}

func from[T any](p *T) mqs.Maybe[T] {
	if p == nil {
		return mqs.Maybe[T]{}
	}
	return mqs.Known(*p)
}

// oneOf returns the word of a list that a text is, empty if it is none of them.
func oneOf[T ~string](words []T, text string) T {
	if i := slices.Index(words, T(text)); i >= 0 {
		return words[i]
	}
	return ""
}

func (p *Parser) model(doc *processJSON) (*mqs.Process, error) {
	out := &mqs.Process{Inferior: doc.Inferior, PID: doc.PID, GlobalRank: from(doc.GlobalRank), WorldSize: from(doc.WorldSize),
		Image: p.intern(doc.Image), MPI: p.intern(doc.MPI), MPIVersion: p.intern(doc.MPIVersion), Library: p.intern(doc.Library),
		Source: p.intern(doc.Source), DLL: p.intern(doc.DLL), DLLVersion: p.intern(doc.DLLVersion),
		Layout: p.intern(doc.Layout), LayoutName: p.intern(doc.LayoutName), Unavailable: p.intern(doc.Unavailable), Notes: p.internAll(doc.Notes),
		Phase: mqs.Phase(p.intern(doc.Phase)), State: oneOf(mqs.RunStates, doc.State), ThreadMultiple: from(doc.ThreadMultiple), Progress: from(doc.Progress), Arriving: from(doc.Arriving)}
	if doc.Threads != nil {
		out.Threads = make([]mqs.Thread, len(doc.Threads))
	}
	for i := range doc.Threads {
		t := &doc.Threads[i]
		out.Threads[i] = mqs.Thread{Number: t.Number, Placed: t.Placed || t.Call != "", Call: p.intern(t.Call), Activity: oneOf(mqs.Activities, t.Activity), Joined: from(t.Joined), Function: p.intern(t.Function), File: p.intern(t.File), Line: t.Line,
			Comm: from(t.Comm), Root: from(t.Root), Source: from(t.Source), Tag: from(t.Tag), Requests: t.Requests, AllRequests: t.AllRequests}
	}
	for i := range doc.Communicators {
		c, err := p.communicator(&doc.Communicators[i])
		if err != nil {
			return nil, err
		}
		out.Communicators = append(out.Communicators, c)
	}
	for _, d := range doc.Differences {
		out.Differences = append(out.Differences, mqs.Difference{Communicator: d.Communicator, Queue: d.Queue,
			Operation: from(d.Operation), Field: d.Field, Native: d.Native, DLL: d.DLL})
	}
	return out, nil
}

func (p *Parser) communicator(c *communicatorJSON) (*mqs.Queues, error) {
	group, err := p.group(c.Group)
	if err != nil {
		return nil, err
	}
	remote, err := p.group(c.RemoteGroup)
	if err != nil {
		return nil, err
	}
	q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: c.UniqueID, LocalRank: from(c.LocalRank), Size: from(c.Size),
		Name: from(c.Name), Group: group, RemoteGroup: remote, Inter: from(c.Inter), Internal: c.Internal, Context: p.intern(c.Context)}}
	q.Name.Value = p.intern(q.Name.Value)
	if c.Traffic != nil {
		q.Traffic = make([]mqs.Traffic, len(c.Traffic))
	}
	for i, t := range c.Traffic {
		q.Traffic[i] = mqs.Traffic{Peer: t[0], Sent: uint16(t[1]), Arrived: uint16(t[2])}
	}
	for class, ops := range [...][]operationJSON{mqs.PendingSends: c.PendingSends,
		mqs.PendingReceives: c.PendingReceives, mqs.UnexpectedMessages: c.UnexpectedMessages} {
		key := mqs.OpClass(class).String()
		switch reason, ok := c.Unavailable[key]; {
		case ok && reason == notAskedFor:
		case ok:
			q.Queue[class] = &mqs.Queue{Unavailable: p.intern(reason)}
		default:
			out := &mqs.Queue{Operations: make([]mqs.PendingOperation, len(ops)), Total: len(ops)}
			if total, said := c.Totals[key]; said && total == nil {
				out.Incomplete = true
			} else if said {
				out.Total = max(*total, len(ops))
			}
			for i := range ops {
				out.Operations[i] = p.operation(&ops[i])
			}
			q.Queue[class] = out
		}
	}
	return q, nil
}

func (p *Parser) operation(o *operationJSON) mqs.PendingOperation {
	return mqs.PendingOperation{Status: mqs.Status(p.intern(o.Status)),
		DesiredLocalRank: from(o.DesiredLocalRank), DesiredGlobalRank: from(o.DesiredGlobalRank),
		TagWild: from(o.TagWild), DesiredTag: from(o.DesiredTag), DesiredLength: from(o.DesiredLength),
		SystemBuffer: from(o.SystemBuffer), Buffer: from(o.Buffer),
		ActualLocalRank: from(o.ActualLocalRank), ActualGlobalRank: from(o.ActualGlobalRank),
		ActualTag: from(o.ActualTag), ActualLength: from(o.ActualLength),
		ExtraText: p.internAll(o.ExtraText), Kind: p.intern(o.Kind), Datatype: p.internMaybe(o.Datatype),
		Count: from(o.Count), Request: from(o.Request), MessageID: mqs.Maybe[uint64]{Value: uint64(from(o.MessageID).Value), Known: o.MessageID != nil}, Internal: o.Internal}
}

func (p *Parser) internMaybe(text *string) mqs.Maybe[string] {
	if text == nil {
		return mqs.Maybe[string]{}
	}
	return mqs.Known(p.intern(*text))
}

func (p *Parser) internAll(texts []string) []string {
	for i, text := range texts {
		texts[i] = p.intern(text)
	}
	return texts
}
