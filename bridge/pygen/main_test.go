package main

import (
	"bytes"
	"os"
	"testing"
)

// The committed Python file is what the protocol's Go source says.
func TestGeneratedFileIsFresh(t *testing.T) {
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../python/mpi_queues/protocol.py")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("python/mpi_queues/protocol.py is stale: run `go generate ./bridge`")
	}
}
