package render

import (
	"encoding/json"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// ParseJSON reads a document of [JSON] back.
func ParseJSON(text []byte) (*mqs.Snapshot, error) {
	var doc struct {
		Schema    int           `json:"schema"`
		Processes []processJSON `json:"processes"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("not a snapshot of mpi-queues: %w", err)
	}
	if doc.Schema != Schema {
		return nil, fmt.Errorf("the snapshot has schema %d, this version reads %d", doc.Schema, Schema)
	}
	s := &mqs.Snapshot{}
	for _, p := range doc.Processes {
		s.Processes = append(s.Processes, p.model())
	}
	return s, nil
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
	ThreadMultiple *bool        `json:"thread_multiple"`
	Threads        []threadJSON `json:"threads"`
}

type threadJSON struct {
	Number      int           `json:"number"`
	Call        string        `json:"call"`
	Function    string        `json:"function"`
	File        string        `json:"file"`
	Line        int           `json:"line"`
	Comm        *target.Addr  `json:"communicator"`
	Root        *int32        `json:"root"`
	Source      *int32        `json:"source"`
	Tag         *int32        `json:"tag"`
	Requests    []target.Addr `json:"requests"`
	AllRequests bool          `json:"all_requests"`
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
	UniqueID           target.Addr       `json:"unique_id"`
	LocalRank          *int32            `json:"local_rank"`
	Size               *int32            `json:"size"`
	Name               *string           `json:"name"`
	Inter              bool              `json:"inter"`
	Internal           bool              `json:"internal"`
	Group              []*int32          `json:"group"`
	RemoteGroup        []*int32          `json:"remote_group"`
	PendingSends       []operationJSON   `json:"pending_sends"`
	PendingReceives    []operationJSON   `json:"pending_receives"`
	UnexpectedMessages []operationJSON   `json:"unexpected_messages"`
	Unavailable        map[string]string `json:"unavailable"`
	Totals             map[string]int    `json:"totals"`
	Context            string            `json:"context"`
	Traffic            [][3]int32        `json:"traffic"`
}

type operationJSON struct {
	Status            string       `json:"status"`
	DesiredLocalRank  *int32       `json:"desired_local_rank"`
	DesiredGlobalRank *int32       `json:"desired_global_rank"`
	TagWild           *bool        `json:"tag_wild"`
	DesiredTag        *int32       `json:"desired_tag"`
	DesiredLength     *int64       `json:"desired_length"`
	SystemBuffer      *bool        `json:"system_buffer"`
	Buffer            *target.Addr `json:"buffer"`
	ActualLocalRank   *int32       `json:"actual_local_rank"`
	ActualGlobalRank  *int32       `json:"actual_global_rank"`
	ActualTag         *int32       `json:"actual_tag"`
	ActualLength      *int64       `json:"actual_length"`
	ExtraText         []string     `json:"extra_text"`
	Kind              string       `json:"kind"`
	Datatype          string       `json:"datatype"`
	Count             *int64       `json:"count"`
	Request           *target.Addr `json:"request"`
	Internal          bool         `json:"internal"`
}

func from[T any](p *T) mqs.Maybe[T] {
	if p == nil {
		return mqs.Maybe[T]{}
	}
	return mqs.Known(*p)
}

func (p processJSON) model() *mqs.Process {
	out := &mqs.Process{Inferior: p.Inferior, PID: p.PID, GlobalRank: from(p.GlobalRank), WorldSize: from(p.WorldSize),
		Image: p.Image, MPI: p.MPI, MPIVersion: p.MPIVersion, Library: p.Library, Source: p.Source, DLL: p.DLL, DLLVersion: p.DLLVersion,
		Layout: p.Layout, LayoutName: p.LayoutName, Unavailable: p.Unavailable, Notes: p.Notes,
		Phase: mqs.Phase(p.Phase), ThreadMultiple: from(p.ThreadMultiple)}
	if p.Threads != nil {
		out.Threads = []mqs.Thread{}
	}
	for _, t := range p.Threads {
		out.Threads = append(out.Threads, mqs.Thread{Number: t.Number, Call: t.Call, Function: t.Function, File: t.File, Line: t.Line,
			Comm: from(t.Comm), Root: from(t.Root), Source: from(t.Source), Tag: from(t.Tag), Requests: t.Requests, AllRequests: t.AllRequests})
	}
	for _, c := range p.Communicators {
		out.Communicators = append(out.Communicators, c.model())
	}
	for _, d := range p.Differences {
		out.Differences = append(out.Differences, mqs.Difference{Communicator: d.Communicator, Queue: d.Queue,
			Operation: from(d.Operation), Field: d.Field, Native: d.Native, DLL: d.DLL})
	}
	return out
}

func (c communicatorJSON) model() *mqs.Queues {
	group := func(g []*int32) []mqs.Maybe[int32] {
		if g == nil {
			return nil
		}
		out := make([]mqs.Maybe[int32], len(g))
		for i, r := range g {
			out[i] = from(r)
		}
		return out
	}
	q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: c.UniqueID, LocalRank: from(c.LocalRank), Size: from(c.Size),
		Name: from(c.Name), Group: group(c.Group), RemoteGroup: group(c.RemoteGroup), Inter: c.Inter, Internal: c.Internal, Context: c.Context}}
	if c.Traffic != nil {
		q.Traffic = []mqs.Traffic{}
	}
	for _, t := range c.Traffic {
		q.Traffic = append(q.Traffic, mqs.Traffic{Peer: t[0], Sent: uint16(t[1]), Arrived: uint16(t[2])})
	}
	for class, ops := range map[mqs.OpClass][]operationJSON{mqs.PendingSends: c.PendingSends,
		mqs.PendingReceives: c.PendingReceives, mqs.UnexpectedMessages: c.UnexpectedMessages} {
		key := class.String()
		switch reason, ok := c.Unavailable[key]; {
		case ok && reason == notAskedFor:
		case ok:
			q.Queue[class] = &mqs.Queue{Unavailable: reason}
		default:
			out := &mqs.Queue{Operations: []mqs.PendingOperation{}, Total: c.Totals[key]}
			for _, op := range ops {
				out.Operations = append(out.Operations, op.model())
			}
			q.Queue[class] = out
		}
	}
	return q
}

func (o operationJSON) model() mqs.PendingOperation {
	return mqs.PendingOperation{Status: mqs.Status(o.Status),
		DesiredLocalRank: from(o.DesiredLocalRank), DesiredGlobalRank: from(o.DesiredGlobalRank),
		TagWild: from(o.TagWild), DesiredTag: from(o.DesiredTag), DesiredLength: from(o.DesiredLength),
		SystemBuffer: from(o.SystemBuffer), Buffer: from(o.Buffer),
		ActualLocalRank: from(o.ActualLocalRank), ActualGlobalRank: from(o.ActualGlobalRank),
		ActualTag: from(o.ActualTag), ActualLength: from(o.ActualLength),
		ExtraText: o.ExtraText, Kind: o.Kind, Datatype: o.Datatype, Count: from(o.Count), Request: from(o.Request), Internal: o.Internal}
}
