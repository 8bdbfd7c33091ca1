//go:build full

package suite

// The whole soak: some 3,000 looks, and some hundred more at what spawns.
var soak = plan{programs: 56, spawning: 8, sitting: 25, seed: 0}
