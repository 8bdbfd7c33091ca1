//go:build matrix && !full

package suite

// A sample of the soak, always the same one.
var soak = plan{programs: 4, sitting: 6, seed: 14}
