package across

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Evaluation is what an expression is in one process.
type Evaluation struct {
	Rank     mqs.Maybe[int32]
	Inferior int
	// Text is the value as the debugger shows it.
	Text string
	// Number is the value in decimal, as strtod(3) takes it ("nan" and "inf" among them), if it is a number.
	Number string
	// Failure is why there is no value, in the debugger's words; empty if there is one.
	Failure string
}

// Values is what an expression is in the ranks of a job.
type Values struct {
	// Expression that was evaluated.
	Expression string `json:"expression"`
	// Function is the one in whose innermost frame each process has evaluated it, null if that was any frame.
	Function string `json:"function" document:"null"`
	// Values are those that there are. The most frequent one is first, then the one with the lowest rank.
	Values []Value `json:"values" document:"line"`
	// Failures say why processes have no value.
	Failures []Failure `json:"failures" document:"line"`
	// Statistics are those of the values, if they are numbers.
	Statistics *Statistics `json:"statistics" document:"line,null"`
}

// Value is a value that processes have alike.
type Value struct {
	mqs.Members
	// Text is the value as the debugger shows it.
	Text string `json:"value"`
	// Number is the value, null if it is no number or not finite.
	Number string `json:"number" document:"number,null"`
}

// Failure is why processes have no value.
type Failure struct {
	mqs.Members
	// Why they have none, in the debugger's words.
	Why string `json:"why"`
}

// Statistics are those of the values of processes.
type Statistics struct {
	// Minimum is the smallest value, null if it is not finite or if there is none.
	Minimum string `json:"minimum" document:"number,null"`
	// MinimumOf are the processes that have it.
	MinimumOf *mqs.Members `json:"minimum_of" document:"null"`
	// Maximum is the largest value.
	Maximum string `json:"maximum" document:"number,null"`
	// MaximumOf are the processes that have it.
	MaximumOf *mqs.Members `json:"maximum_of" document:"null"`
	// Mean is the arithmetic mean of all values that are numbers.
	Mean string `json:"mean" document:"number,null"`
	// Count is how many values are numbers.
	Count int `json:"count"`
	// NaN are the processes whose value is not a number (NaN), null if there is none.
	NaN *mqs.Members `json:"nan" document:"null"`
	// MinimumText and MaximumText are these values as the debugger shows them.
	MinimumText string `json:"-"`
	MaximumText string `json:"-"`
}

// longDigits is how many digits a number has that is too large for a double.
const longDigits = 21

// precision is that of the arithmetic, in bits: integers of 128 bits are exact, and so is their sum.
const precision = 256

// meanDigits is how many digits a mean has.
const meanDigits = 10

// Merge puts processes with equal values together.
func Merge(expression, function string, evaluations []Evaluation) *Values {
	out := &Values{Expression: expression, Function: function}
	var s statistics
	values, failures := map[string]int{}, map[string]int{}
	for i := range evaluations {
		e := &evaluations[i]
		if e.Failure != "" {
			at, ok := failures[e.Failure]
			if !ok {
				at = len(out.Failures)
				failures[e.Failure] = at
				out.Failures = append(out.Failures, Failure{Why: e.Failure})
			}
			out.Failures[at].Add(e.Rank, e.Inferior)
			continue
		}
		at, ok := values[e.Text]
		if !ok {
			at = len(out.Values)
			values[e.Text] = at
			out.Values = append(out.Values, Value{Text: e.Text, Number: literal(e.Number)})
		}
		out.Values[at].Add(e.Rank, e.Inferior)
		s.add(e)
	}
	slices.SortStableFunc(out.Values, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Len(), a.Len()), a.Compare(&b.Members))
	})
	slices.SortStableFunc(out.Failures, func(a, b Failure) int { return a.Compare(&b.Members) })
	out.Statistics = s.result()
	return out
}

// statistics are gathered from values.
type statistics struct {
	Statistics
	minimum, maximum, sum *big.Float
}

// add takes a value into account.
func (s *statistics) add(e *Evaluation) {
	if e.Number == "" {
		return
	}
	if isNaN(e.Number) {
		if s.NaN == nil {
			s.NaN = &mqs.Members{}
		}
		s.NaN.Add(e.Rank, e.Inferior)
		return
	}
	v, _, err := big.ParseFloat(e.Number, 10, precision, big.ToNearestEven)
	if err != nil {
		return
	}
	s.Count++
	extreme := func(best **big.Float, of **mqs.Members, text *string, sign int) {
		c := 1
		if *best != nil {
			c = sign * v.Cmp(*best)
		}
		if c > 0 {
			*best, *of, *text = v, &mqs.Members{}, e.Text
		}
		if c >= 0 {
			(*of).Add(e.Rank, e.Inferior)
		}
	}
	extreme(&s.minimum, &s.MinimumOf, &s.MinimumText, -1)
	extreme(&s.maximum, &s.MaximumOf, &s.MaximumText, 1)
	switch {
	case s.sum == nil:
		s.sum = new(big.Float).Copy(v)
	case s.sum.IsInf(): // there is no mean
	default:
		s.sum = new(big.Float).SetPrec(precision).Add(s.sum, v)
	}
}

// result returns the statistics, nil if no value is a number.
func (s *statistics) result() *Statistics {
	if s.Count == 0 && s.NaN == nil {
		return nil
	}
	if s.Count > 0 {
		s.Minimum, s.Maximum = decimal(s.minimum), decimal(s.maximum)
		if !s.sum.IsInf() {
			s.Mean = new(big.Float).Quo(s.sum, big.NewFloat(float64(s.Count))).Text('g', meanDigits)
		}
	}
	out := s.Statistics
	return &out
}

func isNaN(number string) bool { return strings.Contains(strings.ToLower(number), "nan") }

// literal returns a number as JSON has it, empty if it has none for it.
func literal(number string) string {
	if number == "" || isNaN(number) {
		return ""
	}
	v, _, err := big.ParseFloat(number, 10, precision, big.ToNearestEven)
	if err != nil {
		return ""
	}
	return decimal(v)
}

// decimal returns a number as JSON has it, empty if it is infinite: integers in full, others with as many
// digits as a double needs.
func decimal(v *big.Float) string {
	switch {
	case v.IsInf():
		return ""
	case v.IsInt() && v.MantExp(nil) <= 128:
		return v.Text('f', 0)
	}
	if f, _ := v.Float64(); !math.IsInf(f, 0) {
		return big.NewFloat(f).Text('g', -1)
	}
	return v.Text('g', longDigits)
}
