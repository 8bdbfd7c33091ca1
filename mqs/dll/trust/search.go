package trust

import (
	"errors"
	"os"
	"path/filepath"
)

// Search fails with an [*Error] if anybody else can put a file into a folder that
// is searched for files by their names, or make the folder if it is not there.
// safe are the folders below which everything is trusted.
func Search(folder string, safe []string) error {
	links := 0
	for at := filepath.Clean(folder); ; {
		_, err := Folder(at)
		var distrust *Error
		switch {
		case err == nil:
			return nil
		case errors.As(err, &distrust):
			real := distrust.Real
			if at != filepath.Clean(folder) {
				real = filepath.Clean(folder) // what is missing is named, not what it is missing in
			}
			if below(filepath.Join(real, "any"), safe) {
				return nil
			}
			distrust.Path, distrust.Real = folder, real
			return distrust
		case at == "/":
			return err
		}
		// Who can write where it is missing can make it.
		to, err := os.Readlink(at)
		switch {
		case err == nil && links < maxLinks && filepath.IsAbs(to):
			at = filepath.Clean(to)
		case err == nil && links < maxLinks:
			at = filepath.Join(filepath.Dir(at), to)
		default:
			at = filepath.Dir(at)
		}
		links++
	}
}
