//go:build !packaging

package main

import "github.com/spf13/cobra"

// packagingCommands: users have none.
func packagingCommands() []*cobra.Command { return nil }
