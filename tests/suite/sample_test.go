//go:build matrix && !full

package suite

// A sample of the soak, always the same one: of this seed's programs, the first are of pt2pt,
// spawn, part, coll and rma.
var soak = plan{programs: 4, reports: 1, sitting: 6, seed: 7131}
