//go:build matrix

package dap

import (
	"encoding/json"
	"strings"
	"testing"
)

// body decodes the body of an answer.
func body[T any](t *testing.T, text json.RawMessage) (decoded T) {
	t.Helper()
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatalf("%v in %.500q", err, text)
	}
	return decoded
}

// variable is one that an editor shows.
type variable struct {
	Name, Value        string
	VariablesReference int
}

// The editor's view of variables shows what handles stand for, with their parts.
func TestVariables(t *testing.T) {
	t.Parallel()
	record(t)
	e := work.Edit(t)
	e.Do("setFunctionBreakpoints", arguments{"breakpoints": []arguments{{"name": "look"}}})
	e.Send("launch", arguments{"program": work.Program(t, "tests/dap/testdata/singleton.c")})
	e.Do("configurationDone", nil)
	e.Await("stopped")

	children := func(reference int) map[string]variable {
		t.Helper()
		got := body[struct{ Variables []variable }](t, e.Do("variables", arguments{"variablesReference": reference}))
		named := map[string]variable{}
		for _, v := range got.Variables {
			named[v.Name] = v
		}
		return named
	}
	frames := body[struct{ StackFrames []struct{ ID int } }](t, e.Do("stackTrace", arguments{"threadId": 1}))
	if len(frames.StackFrames) < 2 {
		t.Fatalf("the stack is %v", frames)
	}
	scopes := body[struct{ Scopes []variable }](t, e.Do("scopes", arguments{"frameId": frames.StackFrames[1].ID}))
	for _, s := range scopes.Scopes {
		if s.Name != "Locals" {
			continue
		}
		requests := children(children(s.VariablesReference)["requests"].VariablesReference)
		first := requests["0"]
		if !strings.HasPrefix(first.Value, "MPI_REQUEST (irecv from 0, tag 7, 80 bytes") {
			t.Errorf("the request is shown as %q", first.Value)
		}
		parts := children(first.VariablesReference)
		if tag := parts["tag"].Value; tag != "7" {
			t.Errorf("its tag is shown as %q, among %v", tag, parts)
		}
		return
	}
	t.Errorf("the scopes are %v", scopes)
}
