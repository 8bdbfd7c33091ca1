package inferiortest

import (
	"context"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Lossy is a process of which a part can't be had. The zero value of a set is one without elements.
type Lossy struct {
	inferior.Inferior
	// Pages are the addresses of pages that can't be read. A range is read up to the first of them.
	Pages map[inferior.Addr]bool
	// Symbols are names that are not found, Types those of types that are not known.
	Symbols, Types map[string]bool
}

// Held is how many bytes of memory the process beneath has in all, -1 if that is not known.
func (l *Lossy) Held() int64 { return held(l.Inferior) }

// ReadMemory is [inferior.Inferior.ReadMemory].
func (l *Lossy) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	got, err := l.Inferior.ReadMemory(ctx, ranges)
	for i, b := range got {
		end := ranges[i].Addr + inferior.Addr(len(b))
		for page := ranges[i].Addr &^ (Page - 1); page < end; page += Page {
			if l.Pages[page] {
				got[i] = b[:max(page, ranges[i].Addr)-ranges[i].Addr]
				break
			}
		}
	}
	return got, err
}

// FindSymbols is [inferior.Inferior.FindSymbols].
func (l *Lossy) FindSymbols(ctx context.Context, names []string) ([]*inferior.Symbol, error) {
	got, err := l.Inferior.FindSymbols(ctx, names)
	for i := range got {
		if l.Symbols[names[i]] {
			got[i] = nil
		}
	}
	return got, err
}

// FindTypes is [inferior.Inferior.FindTypes].
func (l *Lossy) FindTypes(ctx context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	got, err := l.Inferior.FindTypes(ctx, queries)
	for i := range got {
		if l.Types[queries[i].Name] {
			got[i] = nil
		}
	}
	return got, err
}
