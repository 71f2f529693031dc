package sdk_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTypesAndConstantsHaveTheValuesOfTheDocument compares the types of Python and the constants
// of Go with the OpenAPI document. Those of TypeScript are made of it, but for webhooks.
func TestTypesAndConstantsHaveTheValuesOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Webhooks   map[string]any `json:"webhooks"`
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Enum []any `json:"enum"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	python, golang := sourceOf(t, "python/svc_render/wire.py"), sourceOf(t, "../client/*.go")
	quoted := regexp.MustCompile(`"([a-z_.]+)"`)
	compare := func(name, constants string, want []string) {
		slices.Sort(want)
		for language, form := range map[string]struct{ source, form string }{
			"Python": {python, `(?s)\n` + name + ` = Literal\[(.*?)\]`},
			"Go":     {golang, `\n\t` + constants + `[A-Z]\w* += (".*")`},
		} {
			var got []string
			for _, found := range regexp.MustCompile(form.form).FindAllStringSubmatch(form.source, -1) {
				for _, value := range quoted.FindAllStringSubmatch(found[1], -1) {
					got = append(got, value[1])
				}
			}
			slices.Sort(got)
			if len(want) < 3 || !slices.Equal(got, want) {
				t.Errorf("%s in %s has %v, the document %v", name, language, got, want)
			}
		}
	}
	for name, v := range map[string]struct{ constants, schema, member string }{
		"JobStatus":       {"Status", "RenderObject", "status"},
		"WaitingReason":   {"Waiting", "RenderObject", "waiting_reason"},
		"QuoteStatus":     {"Quote", "LockedQuote", "status"},
		"PreviewStatus":   {"Preview", "Preview", "status"},
		"TransactionKind": {"Kind", "WalletTransaction", "kind"},
		"Finding":         {"Finding", "RenderFrame", "finding"},
		"TopUpStatus":     {"TopUp", "TopUp", "status"},
		"DeliveryStatus":  {"Delivery", "Delivery", "status"},
	} {
		var want []string
		for _, value := range document.Components.Schemas[v.schema].Properties[v.member].Enum {
			if text, ok := value.(string); ok {
				want = append(want, text)
			}
		}
		compare(name, v.constants, want)
	}
	var events []string
	for event := range document.Webhooks {
		events = append(events, event)
		if !strings.Contains(sourceOf(t, "typescript/src/wire.ts"), `"`+event+`"`) {
			t.Errorf("WebhookType of TypeScript lacks %s", event)
		}
	}
	compare("WebhookType", "Event", events)
}
