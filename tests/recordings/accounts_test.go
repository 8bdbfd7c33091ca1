package recordings

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// accountsFile has the accounts of all recordings of a folder, by the recordings' names: an object with one account
	// on each line, compressed.
	accountsFile = "accounts.json.gz"
	// looseAccount is how the file of an account ends before -update packs it.
	looseAccount = ".account.json"
)

// accountsOf reads the accounts of a folder: one for each of its recordings, and no other. -update first packs those
// that stand beside the recordings as files of their own, and removes those of recordings that are gone.
func accountsOf(t *testing.T, folder string) map[string]json.RawMessage {
	t.Helper()
	file := filepath.Join(folder, accountsFile)
	accounts, err := readAccounts(file)
	if isNew := *update && errors.Is(err, fs.ErrNotExist); err != nil && !isNew {
		t.Fatalf("%s: %v", file, err)
	}
	names := map[string]bool{}
	for _, recorded := range files(t, folder) {
		names[strings.TrimSuffix(filepath.Base(recorded), ".mpiq")] = true
	}
	if *update {
		packAccounts(t, folder, accounts, names)
		return accounts
	}
	for name := range names {
		if loose := filepath.Join(folder, name+looseAccount); exists(loose) {
			t.Errorf("-update packs %s into %s", loose, accountsFile)
		} else if accounts[name] == nil {
			t.Errorf("%s has no account of %s", file, name)
		}
	}
	for name := range accounts {
		if !names[name] {
			t.Errorf("%s has an account of %s, which is not recorded", file, name)
		}
	}
	return accounts
}

// packAccounts brings a folder's accounts up to date, and writes them if that has changed any.
func packAccounts(t *testing.T, folder string, accounts map[string]json.RawMessage, names map[string]bool) {
	t.Helper()
	before := maps.Clone(accounts)
	maps.DeleteFunc(accounts, func(name string, _ json.RawMessage) bool { return !names[name] })
	var packed []string
	for name := range names {
		loose := filepath.Join(folder, name+looseAccount)
		if !exists(loose) {
			continue
		}
		text, err := os.ReadFile(loose)
		var account bytes.Buffer
		if err == nil {
			err = json.Compact(&account, text)
		}
		if err != nil {
			t.Fatalf("%s: %v", loose, err)
		}
		accounts[name], packed = account.Bytes(), append(packed, loose)
	}
	if !maps.EqualFunc(before, accounts, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		if err := os.WriteFile(filepath.Join(folder, accountsFile), packedAccounts(t, accounts), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, loose := range packed {
		if err := os.Remove(loose); err != nil {
			t.Fatal(err)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// readAccounts never returns a nil map.
func readAccounts(file string) (map[string]json.RawMessage, error) {
	accounts := map[string]json.RawMessage{}
	f, err := os.Open(file)
	if err != nil {
		return accounts, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return accounts, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return accounts, err
	}
	return accounts, json.Unmarshal(text, &accounts)
}

// packedAccounts is what readAccounts reads.
func packedAccounts(t *testing.T, accounts map[string]json.RawMessage) []byte {
	t.Helper()
	var lines [][]byte
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		key, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, slices.Concat(key, []byte(":"), accounts[name]))
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(slices.Concat([]byte("{\n"), bytes.Join(lines, []byte(",\n")), []byte("\n}\n")))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
