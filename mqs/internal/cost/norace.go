//go:build !race

package cost

const detectsRaces = false
