package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// An index_map has a chunk of pointers for each kibi of indices (include/ofi_indexer.h, 1.17).
const (
	indexChunks    = 1 << 10
	indicesInChunk = 1 << 10
)

// eachIndexed hands what an index_map leads to to read: an array of pointers to chunks, each an array of pointers, of
// which not all are set, and an array of how many there are in each chunk.
func eachIndexed(r *inferior.Reader, chunksAt, countsAt inferior.Addr, read func(inferior.Addr) error) error {
	chunks, err := r.Pointers(chunksAt, indexChunks)
	if err != nil {
		return err
	}
	for i, chunk := range chunks {
		const width = 4
		count, err := r.Int(countsAt+inferior.Addr(i*width), width)
		if err != nil {
			return err
		}
		if count < 0 || count > indicesInChunk || count > 0 && chunk == 0 {
			return fmt.Errorf("chunk %d at %s has %d connections", i, chunk, count)
		}
		if count == 0 {
			continue
		}
		all, err := r.Pointers(chunk, indicesInChunk)
		if err != nil {
			return err
		}
		for _, at := range all {
			if at == 0 {
				continue
			}
			if err := read(at); err != nil {
				return err
			}
		}
	}
	return nil
}
