//go:build !linux

package starter

// Find finds nothing on systems without Linux's /proc.
func Find(int) ([]Starter, []error) { return nil, nil }

// From finds nothing on systems without Linux's /proc.
func From(int) ([]Starter, []error) { return nil, nil }
