//go:build full

package suite

// The whole soak: 39 looks at each of 88 programs, some 3,400.
var soak = plan{programs: 44, reports: 3, sitting: 34, fragile: true, seed: 0}
