package snapshots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files, the .json files of folders and standard input make one job, by rank.
func TestRead(t *testing.T) {
	folder := t.TempDir()
	rank := func(n int) string {
		return fmt.Sprintf(`{"schema": 1, "processes": [{"global_rank": %d, "world_size": 4}]}`, n)
	}
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	single := write("3", rank(3))
	write("many/2.json", rank(2))
	write("many/0.json", rank(0))
	write("many/notes.txt", "no snapshot")
	if err := os.Symlink("0.json", filepath.Join(folder, "many", "again.json")); err != nil {
		t.Fatal(err)
	}
	s, err := Read(t.Context(), []string{single, filepath.Join(folder, "many"), "-"}, strings.NewReader(rank(1)), false)
	if err != nil || len(s.Processes) != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	for n, p := range s.Processes {
		if int(p.GlobalRank.Value) != n || (len(p.Notes) > 0) != (n == 0) {
			t.Errorf("%d: %+v", n, p)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"holds no .json file":                   {filepath.Join(folder, "empty")},
		"can't be read: no such file":           {filepath.Join(folder, "gone")},
		"can't be read)":                        {write("a.json", "{"), write("b.json", "{")}, // the first, and how many more
		"these are not snapshots of one job":    {single, write("other.json", `{"schema": 1, "processes": [{"global_rank": 0, "world_size": 9}]}`)},
		"the recording can't be read":           {filepath.Join(folder, "none.mpiq")},
		"not a recording":                       {write("wrong.mpiq", "x")},
		filepath.Join(folder, "many/notes.txt"): {filepath.Join(folder, "many", "notes.txt")},
	} {
		if _, err := Read(t.Context(), args, nil, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, which lacks %q", err, want)
		}
	}
}
