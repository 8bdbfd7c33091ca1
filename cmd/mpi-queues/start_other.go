//go:build !linux

package main

import "github.com/spf13/cobra"

// startCommands are those that start jobs: none, where the kernel does not let who traces a process
// leave it stopped.
func startCommands() []*cobra.Command { return nil }
