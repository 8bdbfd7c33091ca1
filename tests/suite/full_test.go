//go:build full

package suite

// The whole soak: 28 looks at a program, more than 3,000.
var soak = plan{programs: 56, sitting: 25, seed: 0}
