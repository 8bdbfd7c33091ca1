// Package wire carries documents of many nodes over the standard outputs of programs that run there.
//
// A launcher brings that output to who has started the programs, and may mix what comes of several nodes,
// cut it into messages, label it, and add text of its own: Slurm's srun carries messages of at most 1,024
// bytes (SLURM_IO_MAX_MSG_LEN of its src/common/io_hdr.h). So everything goes in short lines of ASCII, each
// of which says whose it is, which one it is, and what its checksum is. Lines may come in any order, and
// more than once. What does not come is named.
package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

const (
	// LineLimit is how long no line is, its end included, in bytes.
	LineLimit = 1000
	// format is the version of the lines; marker begins each of them.
	format = "1"
	marker = "@mpi-queues/"
	// chunk is how much of a packed document goes into one line, in bytes, and most how much text goes
	// with the other kinds of lines.
	chunk = 500
	// maxNode is how long a node's name may be: as Linux's (HOST_NAME_MAX of limits.h).
	maxNode = 64
	// maxNumber bounds the numbers of lines.
	maxNumber = 1 << 30
)

// kind is what a line is for.
type kind string

const (
	hello    kind = "hello"    // the program's version, and the machine
	progress kind = "progress" // how far the collector is, in words
	data     kind = "data"     // a part of the packed document
	end      kind = "end"      // how many parts there are, and their checksum
	failed   kind = "failed"   // why there is no document
	wants    kind = "wants"    // the program is not there, and is waited for
)

// line is one line. Node, token and number tell it from all others of its kind.
type line struct {
	node string
	// token tells two collectors of one node apart.
	token   string
	kind    kind
	number  int
	payload []byte
}

var (
	sums     = crc32.MakeTable(crc32.Castagnoli)
	encoding = base64.RawStdEncoding.Strict()
)

// append writes a line: its version, node, token, kind, number, checksum and payload.
func (l *line) append(b []byte) []byte {
	body := fmt.Sprintf("%s %s %s %d %s", escape(l.node), l.token, l.kind, l.number, encoding.EncodeToString(l.payload))
	return fmt.Appendf(b, "%s%s %08x %s\n", marker, format, crc32.Checksum([]byte(body), sums), body)
}

// Wants is the line, without its end, by which a node asks for the program.
func Wants(node string) string {
	l := line{cut(node, maxNode), "none", wants, 0, nil}
	return strings.TrimSuffix(string(l.append(nil)), "\n")
}

var (
	// errForeign means that a line is not one of this package's.
	errForeign = errors.New("it is no line of a collector's")
	// errDamaged means that it was one.
	errDamaged = errors.New("it is damaged")
)

// formatError means that a line is of a collector that writes other lines.
type formatError struct{ format string }

func (e *formatError) Error() string {
	return "its lines are of format " + e.format + ", not " + format
}

// parse reads a line without its end. Something else may stand before it, as a launcher's label.
func parse(text []byte) (l line, err error) {
	at := bytes.LastIndex(text, []byte(marker))
	if at < 0 {
		return l, errForeign
	}
	version, rest, _ := strings.Cut(string(bytes.TrimRight(text[at+len(marker):], "\r")), " ")
	if version != format {
		if n, err := strconv.ParseUint(version, 10, 16); err == nil {
			return l, &formatError{strconv.FormatUint(n, 10)}
		}
		return l, errDamaged
	}
	sum, body, _ := strings.Cut(rest, " ")
	if fmt.Sprintf("%08x", crc32.Checksum([]byte(body), sums)) != sum {
		return l, errDamaged
	}
	fields := strings.Split(body, " ")
	if len(fields) != 5 {
		return l, errDamaged
	}
	number, err := strconv.ParseUint(fields[3], 10, 31)
	payload, err2 := encoding.DecodeString(fields[4])
	l = line{unescape(fields[0]), fields[1], kind(fields[2]), int(number), payload}
	if err != nil || err2 != nil || number > maxNumber || l.node == "" || len(l.node) > maxNode || len(l.token) > maxNode || len(payload) > chunk {
		return line{}, errDamaged
	}
	return l, nil
}

const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"

// escape writes a name as one word of ASCII, with other bytes as %XX.
func escape(name string) string {
	if strings.Trim(name, plain) == "" {
		return name
	}
	var b []byte
	for i := range len(name) {
		if strings.IndexByte(plain, name[i]) >= 0 {
			b = append(b, name[i])
		} else {
			b = fmt.Appendf(b, "%%%02X", name[i])
		}
	}
	return string(b)
}

// unescape reads a name that [escape] has written, empty if that is none.
func unescape(word string) string {
	var b []byte
	for i := 0; i < len(word); i++ {
		if word[i] != '%' {
			b = append(b, word[i])
			continue
		}
		if i+2 >= len(word) {
			return ""
		}
		n, err := strconv.ParseUint(word[i+1:i+3], 16, 8)
		if err != nil {
			return ""
		}
		b = append(b, byte(n))
		i += 2
	}
	return string(b)
}
