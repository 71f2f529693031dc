package expression

import (
	"encoding/json"
	"os"
	"testing"
)

// testdata/answers.json is what Blender 3.4 said of each expression of a driver
// with the variable var. scripts/scenes/blendfile_expressions.py asked it. An expression
// that works neither way is wrong in every Blender.
func TestExpressionsNeedScriptsWhereBlenderSaysSo(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]struct {
		Simple      bool `json:"simple"`
		WithScripts bool `json:"with_scripts"`
		Without     bool `json:"without"`
	}
	if err := json.Unmarshal(file, &answers); err != nil {
		t.Fatal(err)
	}
	if len(answers) < 150 {
		t.Fatalf("%d expressions", len(answers))
	}
	names := []string{"var"}
	for text, want := range answers {
		if got := simpleExpression(text, names); got != want.Simple {
			t.Errorf("%q: simple %v, Blender says %v", text, got, want.Simple)
		}
		if got := NeedsScripts(text, names); (want.Without || want.WithScripts) && got == want.Without {
			t.Errorf("%q: needs scripts %v; Blender: with %v, without %v", text, got, want.WithScripts, want.Without)
		}
	}
}

// A name of a variable hides Blender's own.
func FuzzExpression(f *testing.F) {
	f.Add("lerp(0, 1, var) if frame > 3 else -min(1, 2)")
	f.Fuzz(func(_ *testing.T, text string) { NeedsScripts(text, []string{"var"}) })
}
