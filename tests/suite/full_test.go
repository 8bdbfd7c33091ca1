//go:build full

package suite

// The whole soak: three looks at each program, with either MPI.
var soak = plan{programs: 54, seed: 0}
