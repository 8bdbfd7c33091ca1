package frugal

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// What a text may have of small things grows with its length, or with what it is packed to.
func TestReader(t *testing.T) {
	const many = 1 << 16
	operation := `{"status":"pending","desired_local_rank":1,"desired_tag":7,"desired_length":8,"buffer":"0x7ffe8a3c"},`
	for name, c := range map[string]struct {
		text   string
		packed int64 // 0 if it is not
		want   error
	}{
		"few empty objects":                {strings.Repeat("{},", 1000), 0, nil},
		"many empty objects":               {strings.Repeat("{},", many), 0, ErrTooMuch},
		"many objects":                     {strings.Repeat(operation, many), 0, nil},
		"a long list of numbers":           {strings.Repeat("1,", 64*many), 0, nil},
		"few empty objects, packed":        {strings.Repeat("{},", 1000), 1, nil},
		"many empty objects, packed":       {strings.Repeat("{},", many), many / 16, ErrTooMuch},
		"many objects, packed":             {strings.Repeat(operation, many), 2 * many, nil},
		"a list of numbers that is packed": {strings.Repeat("1,", 64*many), many / 16, ErrTooMuch},
	} {
		r := NewReader(strings.NewReader(c.text))
		if c.packed > 0 {
			r = Unpacked(strings.NewReader(c.text), c.packed)
		}
		text, err := io.ReadAll(r)
		if !errors.Is(err, c.want) || err == nil && string(text) != c.text {
			t.Errorf("%s: %d of %d bytes, %v", name, len(text), len(c.text), err)
		}
	}
}
