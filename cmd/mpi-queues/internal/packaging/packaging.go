// Package packaging makes what packages of mpi-queues carry besides the program: man pages, completions for
// shells, the licences of all that the program is built of, and the wheel for pip.
package packaging

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Files writes into a folder, of which nothing old remains, the man pages and completions of a
// program's root command, and the licences of what its package is built of:
//
//	man/mpi-queues.1 ...
//	completions/{bash,zsh,fish}/...
//	licences.txt
func Files(root *cobra.Command, pkg, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, path := range []string{"man", "completions/bash", "completions/zsh", "completions/fish"} {
		if err := os.MkdirAll(filepath.Join(folder, path), 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Manual: "mpi-queues", Source: " "}
	if err := doc.GenManTree(root, header, filepath.Join(folder, "man")); err != nil {
		return fmt.Errorf("the man pages can't be written: %w", err)
	}
	completions := filepath.Join(folder, "completions")
	if err := root.GenBashCompletionFileV2(filepath.Join(completions, "bash", root.Name()), true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(filepath.Join(completions, "zsh", "_"+root.Name())); err != nil {
		return err
	}
	if err := root.GenFishCompletionFile(filepath.Join(completions, "fish", root.Name()+".fish"), true); err != nil {
		return err
	}
	text, err := licences(pkg)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "licences.txt"), []byte(text), 0o644)
}
