package document

import (
	"context"
	"sync/atomic"
)

// What merged documents may be made to, in bytes of memory.
const (
	// allMemory is for all documents of a budget together. A million ranks in an exchange with six neighbours take 5.5 GiB.
	allMemory = 8 << 30
	// sharedMemory is for what the documents take beyond their warrant.
	sharedMemory = 2 << 30
	// The documents of one sender may use freeMemory, plus memoryPerByte for each byte of their compressed size. An operation uses
	// 264 bytes of memory, and compresses to a hundredth of a byte if the ranks differ in a regular way.
	freeMemory    = 96 << 20
	memoryPerByte = 1 << 10
	// warrant is the memory that is guaranteed to a sender for each compressed byte: other senders can't use it up. The million
	// ranks above use 150 bytes for each.
	warrant = 256
)

// Budget bounds the memory that all documents from untrusted senders may use together. It is safe for concurrent use.
type Budget struct{ all, shared atomic.Int64 }

// Left returns how many bytes are left for what has no warrant.
func (b *Budget) Left() int64 { return sharedMemory - b.shared.Load() }

// Hold accounts for n bytes that are held beside the documents, or no longer held if n is negative.
func (b *Budget) Hold(n int64) { b.shared.Add(n) }

// Account returns an account for documents that must be read before ctx is done.
func (b *Budget) Account(ctx context.Context) *Account {
	return &Account{ctx: ctx, budget: b, left: freeMemory}
}

// Account is what documents of one sender may still take, in bytes of memory. It is for one goroutine.
type Account struct {
	ctx    context.Context
	budget *Budget
	// left is for these documents in all, of which warrant does not count for others.
	left, warrant int64
	spent         int64
}

// Add adds what a document may take that is packed to so many bytes.
func (a *Account) Add(packed int64) {
	a.left += memoryPerByte * packed
	a.warrant += warrant * packed
}

// Spend accounts for memory that is about to be kept. It fails if that is more than may be taken, or if the time is over.
func (a *Account) Spend(n int64) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if n < 0 || n > a.left {
		return errTooMuch
	}
	a.left, a.spent = a.left-n, a.spent+n
	beyond := max(n-a.warrant, 0)
	a.warrant -= n - beyond
	if a.budget.all.Add(n) > allMemory || beyond > 0 && a.budget.shared.Add(beyond) > sharedMemory {
		return errTooMuchInAll
	}
	return nil
}
