package across

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// evaluations are those of ranks from 0 on, a value each: its text and its number.
func evaluations(values ...[2]string) (out []Evaluation) {
	for i, v := range values {
		out = append(out, Evaluation{Rank: mqs.Known(int32(i)), Inferior: i + 1, Text: v[0], Number: v[1]})
	}
	return out
}

func numbers(values ...string) []Evaluation {
	var out [][2]string
	for _, v := range values {
		out = append(out, [2]string{v, v})
	}
	return evaluations(out...)
}

func of(ranks ...int32) mqs.Members { return mqs.Members{Ranks: ranks} }

// The most frequent value comes first, then the one with the lowest rank.
func TestMerge(t *testing.T) {
	list := numbers("7", "12", "12", "9", "7", "12")
	list = append(list, Evaluation{Inferior: 9, Text: "9", Number: "9"}, Evaluation{Rank: mqs.Known[int32](8), Failure: "running"},
		Evaluation{Rank: mqs.Known[int32](7), Failure: "not in f()"}, Evaluation{Rank: mqs.Known[int32](9), Failure: "running"})
	got := Merge("x", "f", list)
	want := []Value{{of(1, 2, 5), "12", "12"}, {of(0, 4), "7", "7"}, {mqs.Members{Ranks: []int32{3}, Inferiors: []int32{9}}, "9", "9"}}
	if !reflect.DeepEqual(got.Values, want) {
		t.Errorf("values are %+v, want %+v", got.Values, want)
	}
	if want := []Failure{{of(7), "not in f()"}, {of(8, 9), "running"}}; !reflect.DeepEqual(got.Failures, want) {
		t.Errorf("failures are %+v, want %+v", got.Failures, want)
	}
	s := got.Statistics
	if s.Minimum != "7" || !reflect.DeepEqual(*s.MinimumOf, of(0, 4)) || s.Maximum != "12" || !reflect.DeepEqual(*s.MaximumOf, of(1, 2, 5)) ||
		s.Mean != "9.714285714" || s.Count != 7 || s.NaN != nil {
		t.Errorf("statistics are %+v", s)
	}
}

func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		values                 []string
		minimum, maximum, mean string
		nan                    int
	}{
		{[]string{"nan", "1.5", "-2.25", "-nan(0x8000000000000)"}, "-2.25", "1.5", "-0.375", 2},
		{[]string{"18446744073709551615", "18446744073709551614"}, "18446744073709551614", "18446744073709551615", "1.844674407e+19", 0},
		{[]string{"-9223372036854775808", "0"}, "-9223372036854775808", "0", "-4.611686018e+18", 0},
		{[]string{"inf", "1"}, "1", "", "", 0},
		{[]string{"-inf", "inf"}, "", "", "", 0},
		{[]string{"0.1", "0.1", "0.1"}, "0.1", "0.1", "0.1", 0},
		{[]string{"1e+300", "1e-300"}, "1e-300", "1e+300", "5e+299", 0},
		{[]string{"nan"}, "", "", "", 1},
	} {
		s := Merge("x", "", numbers(c.values...)).Statistics
		nan := 0
		if s.NaN != nil {
			nan = s.NaN.Len()
		}
		if s.Minimum != c.minimum || s.Maximum != c.maximum || s.Mean != c.mean || nan != c.nan || s.Count+nan != len(c.values) {
			t.Errorf("%v: %+v, %d NaN; want %+v", c.values, s, nan, c)
		}
	}
	if s := Merge("x", "", evaluations([2]string{`"a"`, ""})).Statistics; s != nil {
		t.Errorf("a string has the statistics %+v", s)
	}
}
