package strictjson_test

import (
	"testing"

	"svc.example/internal/ground/strictjson"
)

type pair struct {
	A int    `json:"a"`
	B string `json:"b"`
}

func TestADocumentSaysExactlyWhatItsTargetHolds(t *testing.T) {
	for document, accepted := range map[string]bool{
		`{"a":1,"b":"x"}`:                 true,
		" { \"b\" : \"x\",\n \"a\" : 1 }": true,
		`{"a":1,"b":"x","c":2}`:           false, // unknown
		`{"a":1}`:                         false, // missing
		`{"A":1,"b":"x"}`:                 false, // another case
		`{"a":1,"a":1,"b":"x"}`:           false, // repeated
		`{"a":1e0,"b":"x"}`:               false, // a number in another form
		`{"a":1,"b":"x"}{}`:               false, // trailing data
	} {
		var got pair
		err := strictjson.Decode([]byte(document), &got)
		if (err == nil) != accepted {
			t.Errorf("%s: %v", document, err)
		}
		if accepted && got != (pair{1, "x"}) {
			t.Errorf("%s: got %+v", document, got)
		}
	}
}

func TestRepeatsAreFoundAtEveryDepth(t *testing.T) {
	for document, accepted := range map[string]bool{
		`{"a":{"b":1},"c":[{"b":2},{"b":3}]}`: true,
		`{"a":{"b":1,"b":2}}`:                 false,
		`[{"a":[1,{"b":1,"c":2,"b":3}]}]`:     false,
	} {
		if err := strictjson.RefuseRepeats([]byte(document)); (err == nil) != accepted {
			t.Errorf("%s: %v", document, err)
		}
	}
}
