package waitfor

import (
	"fmt"
	"strconv"
	"strings"
)

// Ranges writes ranks, which are in order, in short: "0-3,6".
func Ranges(ranks []int32) string {
	var b strings.Builder
	eachRange(ranks, func(first, last int32) bool {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(first)))
		if last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(last)))
		}
		return true
	})
	return b.String()
}

// eachRange calls f with the ranges of ranks, which are in order, until it returns false.
func eachRange(ranks []int32, f func(first, last int32) bool) {
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] <= ranks[k]+1 {
			k++
		}
		if !f(ranks[i], ranks[k]) {
			return
		}
		i = k + 1
	}
}

// maxRanges is how many ranges of ranks a sentence takes.
const maxRanges = 12

// rankWords names ranks, which are in order, in a sentence: "rank 4", "ranks 0-3, 6".
func rankWords(ranks []int32) string {
	switch len(ranks) {
	case 0:
		return "no ranks"
	case 1:
		return fmt.Sprintf("rank %d", ranks[0])
	}
	var parts []string
	eachRange(ranks, func(first, last int32) bool {
		if len(parts) == maxRanges {
			parts = append(parts, fmt.Sprintf("… (%d ranks)", len(ranks)))
			return false
		}
		parts = append(parts, Ranges([]int32{first}))
		if last > first {
			parts[len(parts)-1] += fmt.Sprintf("-%d", last)
		}
		return true
	})
	return "ranks " + strings.Join(parts, ", ")
}

// verb picks the form of a verb that goes with ranks.
func verb(ranks []int32, one, several string) string {
	if len(ranks) == 1 {
		return one
	}
	return several
}

// capital makes the first letter of a sentence a capital one.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
