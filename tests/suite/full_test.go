//go:build full

package suite

// The whole soak: 37 looks at each of 88 programs, some 3,250.
var soak = plan{programs: 44, sitting: 34, fragile: true, seed: 0}
