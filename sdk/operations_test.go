package sdk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/sdk"
)

// operationIDs are those of the OpenAPI document.
func operationIDs(t *testing.T) (ids []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range document.Paths {
		for _, item := range path {
			var operation struct {
				OperationID string `json:"operationId"`
			}
			if json.Unmarshal(item, &operation) == nil && operation.OperationID != "" {
				ids = append(ids, operation.OperationID)
			}
		}
	}
	return ids
}

// sourceOf joins the files of a pattern.
func sourceOf(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestEveryOperationIsOfferedByEverySDKOrExplained(t *testing.T) {
	t.Parallel()
	methods := map[string]struct{ source, form string }{
		"Go":         {sourceOf(t, "../client/*.go"), `(?m)^func \(c \*Client\) NAME\(`},
		"Python":     {sourceOf(t, "python/svc_render/client.py"), `(?m)^    def NAME\(`},
		"TypeScript": {sourceOf(t, "typescript/lib/client.d.ts"), `(?m)^    NAME[(<]`},
	}
	ids, listed := operationIDs(t), []string{}
	for _, o := range sdk.Operations() {
		listed = append(listed, o.IDs...)
		if (o.Method == "" || len(o.Not) > 0) != (o.Why != "") {
			t.Errorf("%v has the method %q, and this is why it lacks one: %q", o.IDs, o.Method, o.Why)
		}
		for language, m := range methods {
			if o.Method == "" {
				continue
			}
			name := sdk.Name(language, o.Method)
			has := regexp.MustCompile(strings.Replace(m.form, "NAME", name, 1)).MatchString(m.source)
			if has == slices.Contains(o.Not, language) {
				t.Errorf("%v in %s: that there is a method %s is %v", o.IDs, language, name, has)
			}
		}
	}
	slices.Sort(ids)
	slices.Sort(listed)
	if len(ids) < 50 || !slices.Equal(ids, listed) {
		missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(listed, id) })
		extra := slices.DeleteFunc(slices.Clone(listed), func(id string) bool { return slices.Contains(ids, id) })
		t.Errorf("the table of operations lacks %v, and has %v too many or twice", missing, extra)
	}
}

func TestEverySDKHasTheVerbsOfTheTable(t *testing.T) {
	t.Parallel()
	golang, python, typescript := sourceOf(t, "../client/*.go"), sourceOf(t, "python/svc_render/*.py"), sourceOf(t, "typescript/lib/*.d.ts")
	for _, v := range sdk.Verbs() {
		for _, in := range []struct{ source, name, method, function string }{
			{golang, v.Go, `(?m)^func \(c \*Client\) NAME\(`, `(?m)^func NAME\(`},
			{python, v.Python, `(?m)^    def NAME\(`, `(?m)^def NAME\(`},
			{typescript, v.TypeScript, `(?m)^    NAME[(<]`, `(?m)^export declare function NAME\(`},
		} {
			form, name := in.function, in.name
			if _, method, ok := strings.Cut(name, "."); ok {
				form, name = in.method, method
			}
			if !regexp.MustCompile(strings.Replace(form, "NAME", name, 1)).MatchString(in.source) {
				t.Errorf("%s: there is no %s", v.Does, in.name)
			}
		}
	}
}
