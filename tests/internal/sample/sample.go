// Package sample chooses which of many similar cases a run of the tests tries.
//
// The choice depends on a seed, which the test scripts set to the number of the day: as many runs in a row as
// the sample's fraction, each with the next seed, try every case once.
package sample

import (
	"hash/crc32"
	"os"
	"strconv"
	"testing"
)

// variable is the environment variable that holds the seed.
const variable = "MPI_QUEUES_TEST_SEED"

// Fractions of the cases that a run tries: one of so many.
const (
	// Modes is for the modes of programs that hang. The verdicts on all of them are replayed from recordings, so that
	// jobs only have to show that reading one still gives such a recording.
	Modes = 20
	// Moving is for the modes that make progress. At which moments they are stopped no recording shows.
	Moving = 8
)

// Seed returns the seed of this run, 0 if the environment has none. It panics if the seed is not a decimal number, since
// the run could not be repeated.
func Seed() uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(variable + ": " + err.Error())
	}
	return seed
}

// Whole reports whether every case is tried, as in ./tests/run full.
func Whole() bool {
	return os.Getenv("MPI_QUEUES_TEST_WHOLE") != ""
}

// Chosen reports whether case i of those called name is in this run's sample of every n-th one. Names shift the
// sample, so that one run tries different cases in different rows.
func Chosen(name string, i, n int) bool { return Whole() || chosen(Seed(), name, i, n) }

func chosen(seed uint64, name string, i, n int) bool {
	hash := uint64(crc32.ChecksumIEEE([]byte(name)))
	return (hash%uint64(n)+seed%uint64(n)+uint64(i))%uint64(n) == 0
}

// ChosenIfShort is Chosen under go test -short, and true otherwise.
func ChosenIfShort(name string, i, n int) bool { return !testing.Short() || Chosen(name, i, n) }

// LogSeed logs how to repeat the run's sample if the test fails.
func LogSeed(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with %s=%d", variable, Seed())
		}
	})
}
