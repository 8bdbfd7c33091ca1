//go:build !linux

package gdbrun

func setLimit(int) {}
