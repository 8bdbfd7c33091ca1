package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadRecipes(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := readRecipes(fstest.MapFS{"recipes/x-1.json": file(`{"release": "X 1", "suite": "sid", "source": "x=1", "code": "x.c", "flags": ["-I."]}`),
		"recipes/x.c": file("int i;")})
	if err != nil || len(got) != 1 || got["x-1"].name != "x-1" || got["x-1"].Release != "X 1" || got["x-1"].code != "int i;" || got["x-1"].Flags[0] != "-I." {
		t.Errorf("%+v, %v", got, err)
	}
	for text, say := range map[string]string{`{"code": "y.c"}`: "y.c", `{"cod": "x.c"}`: "cod", `[]`: "x-1.json"} {
		if _, err := readRecipes(fstest.MapFS{"recipes/x-1.json": file(text), "recipes/x.c": file("")}); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := readRecipes(fstest.MapFS{}); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
