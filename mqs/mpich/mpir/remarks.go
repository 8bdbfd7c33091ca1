package mpir

import "fmt"

// Remark is something that holds for a process as a whole: it is said once, however often it comes up.
type Remark int

// The remarks, in the order in which they are said.
const (
	UnknownSends        Remark = iota // the device does not keep all of a send
	UnknownReceives                   // a network library has receives
	Offload                           // a network card matches messages too
	BarePartitioned                   // the types do not tell how partitioned operations are kept
	UnreadableNetwork                 // the network library beneath can't be read
	NoSharedMemory                    // a network library has all messages
	UnreachableMessages               // a network library has messages from elsewhere
	UnorderedSends                    // sends are not shown in the order of posting
	remarks
)

// Remarks are what reading a process has brought up.
type Remarks struct {
	came  []string
	whole [remarks]string
}

// Notef adds a sentence.
func (r *Remarks) Notef(format string, args ...any) {
	r.came = append(r.came, fmt.Sprintf(format, args...))
}

// Set adds a remark on the process as a whole, in place of the same one of before.
func (r *Remarks) Set(what Remark, sentence string) { r.whole[what] = sentence }

// Sentences are those of before in the order in which they came up, and then those on the process as a whole.
func (r *Remarks) Sentences() []string {
	out := append([]string(nil), r.came...)
	for _, s := range r.whole {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
