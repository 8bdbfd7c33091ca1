package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Result is what the seeds of one build have shown of one reader.
type Result struct {
	// MPI is its name and version, Build its name in the table.
	MPI, Build string
	// Reader is "native" or "dll", and Way "live", "core" or "verdict".
	Reader, Way string
	Seeds       int
	Score       Score
}

// Write adds the result to a folder.
func (r Result) Write(folder string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, "*.json")
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// ReadResults returns the results of folders; those of the same come together.
func ReadResults(folders ...string) ([]Result, error) {
	var paths []string
	for _, folder := range folders {
		some, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	at := map[[4]string]int{}
	var out []Result
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var r Result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		key := [4]string{r.MPI, r.Build, r.Reader, r.Way}
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, r)
			continue
		}
		out[i].Seeds += r.Seeds
		for kind, n := range r.Score {
			out[i].Score[kind] += n
		}
	}
	return out, nil
}
