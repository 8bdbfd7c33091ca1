package document

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Groups of communicators are as long as the job has ranks, and much the same in all of them. So a merged document has each
// one once, as ranges of global ranks: "0-9,12,?". "?" is a rank that is not known.

var errRanges = errors.New("a group of its communicators is none")

// memberSize is what a member of a group takes, in bytes.
const memberSize = int64(unsafe.Sizeof(mqs.Maybe[int32]{}))

// common has the texts of merged documents, and the groups that are written in them, each once. Several goroutines may use it.
type common struct {
	mu sync.Mutex
	// before are those that no document has had since the last call of Forget.
	now, before map[string]*commonText
}

// commonText is a text, and the group that it stands for if some communicator has it.
type commonText struct {
	text  string
	group []mqs.Maybe[int32]
}

// Forget drops the texts and groups of merged documents that none has had since Forget was last called: documents of strangers may
// have other ones in each look.
func (p *Parser) Forget() {
	p.common.mu.Lock()
	defer p.common.mu.Unlock()
	p.common.now, p.common.before = nil, p.common.now
}

// find returns what there is of a text, and how many bytes of memory that newly takes.
func (c *common) find(text string) (*commonText, int64) {
	if t := c.now[text]; t != nil {
		return t, 0
	}
	t := c.before[text]
	if t == nil {
		t = &commonText{text: text}
	}
	if c.now == nil {
		c.now = map[string]*commonText{}
	}
	c.now[text] = t
	return t, textCost + int64(len(text)) + int64(len(t.group))*memberSize
}

// text returns the one string that is kept of a text, and how many bytes of memory it takes.
func (c *common) text(text string) (string, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, takes := c.find(text)
	return t.text, takes + textCost
}

// group returns a group. What it newly takes is taken from an account.
func (c *common) group(text string, account *Account) ([]mqs.Maybe[int32], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, takes := c.find(text)
	err := account.Spend(takes)
	if err == nil && t.group == nil {
		t.group, err = parseRanges(text, account)
	}
	return t.group, err
}

// rangesOf writes a group.
func rangesOf(group []mqs.Maybe[int32]) string {
	var b []byte
	for i := 0; i < len(group); {
		if i > 0 {
			b = append(b, ',')
		}
		first := group[i]
		if i++; !first.Known {
			b = append(b, '?')
			continue
		}
		last := first.Value
		for i < len(group) && group[i].Known && group[i].Value == last+1 {
			last++
			i++
		}
		if b = strconv.AppendInt(b, int64(first.Value), 10); last != first.Value {
			b = strconv.AppendInt(append(b, '-'), int64(last), 10)
		}
	}
	return string(b)
}

// parseRanges reads a group, whose members are taken from an account.
func parseRanges(text string, account *Account) ([]mqs.Maybe[int32], error) {
	group := []mqs.Maybe[int32]{}
	if text == "" {
		return group, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if part == "?" {
			if err := account.Spend(memberSize); err != nil {
				return nil, err
			}
			group = append(group, mqs.Maybe[int32]{})
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 31)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 31)
		}
		if err != nil || last < first {
			return nil, errRanges
		}
		n := int(last-first) + 1
		if err := account.Spend(int64(n) * memberSize); err != nil {
			return nil, err
		}
		group = slices.Grow(group, n)
		for rank := first; rank <= last; rank++ {
			group = append(group, mqs.Known(int32(rank)))
		}
	}
	return group, nil
}
