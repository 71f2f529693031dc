package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/door/api"
)

// schema is a schema of the OpenAPI document, as far as shapes go.
type schema struct {
	Type                 any               `json:"type"`
	Const                any               `json:"const"`
	Enum                 []any             `json:"enum"`
	Ref                  string            `json:"$ref"`
	Required             []string          `json:"required"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties any               `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	MinItems, MaxItems   *int
	UniqueItems          bool
	Minimum, Maximum     *float64
	MinLength, MaxLength *int
	Pattern, Format      string
}

// described is the OpenAPI document, as far as tests read it.
type described struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Version string `json:"version"`
	} `json:"info"`
	Paths      map[string]map[string]route `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type route struct {
	OperationID string                `json:"operationId"`
	Security    []map[string][]string `json:"security"`
	Parameters  []struct{ Name, In string }
	Responses   map[string]struct {
		Description string
	} `json:"responses"`
}

func describedBy(t *testing.T, document []byte) (d described) {
	t.Helper()
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTheDocumentHasThePublishedShapes compares the schemas with spec 2 and 7:
// which members exist, which of them are required, which are constant.
func TestTheDocumentHasThePublishedShapes(t *testing.T) {
	t.Parallel()
	d := describedBy(t, api.Document(""))
	for name, want := range map[string]struct {
		required, optional string
		open               bool              // further members may come
		fixed              map[string]string // members of one value, as JSON
	}{
		"Health": {required: "ok service ts", fixed: map[string]string{"ok": `true`}},
		"Pricing": {required: "ok contract currency model quote_required", optional: "amount amount_minor expires_at", fixed: map[string]string{
			"ok": `true`, "contract": `"SVC-PUBLIC-API-V2-FIXED-QUOTE"`, "currency": `"USD"`, "model": `"fixed_quote"`, "quote_required": `true`,
		}},
		"Capabilities": {required: "ok contract renderers availability pricing limits cancellation workflow proof webhooks", fixed: map[string]string{
			"ok": `true`, "contract": `"SVC-PUBLIC-API-V1"`,
		}},
		"Availability": {required: "classification accepting_jobs queue_state", fixed: map[string]string{"classification": `"LIVE_PUBLIC_ALPHA"`}},
		"OfferedRenderer": {required: "id application version engines input_formats output_format render_device", fixed: map[string]string{
			"id": `"blender"`, "application": `"Blender"`, "version": `"4.1.1"`, "engines": `["CYCLES"]`, "input_formats": `[".blend"]`,
			"output_format": `".zip"`, "render_device": `"GPU"`,
		}},
		"Webhooks": {required: "supported signed transport terminal_events delivery_model redirects_allowed private_network_targets_allowed", fixed: map[string]string{
			"supported": `true`, "signed": `true`, "transport": `"HTTPS"`, "delivery_model": `"durable_queue"`,
			"redirects_allowed": `false`, "private_network_targets_allowed": `false`,
		}},
		"Limits": {
			required: "ok contract frame_count accepted_extensions required_render_engine render_backend maximum_upload_size_bytes availability rate_limit",
			optional: "unstarted_storage_bytes maximum_project_size_bytes maximum_project_files maximum_part_size_bytes maximum_frame_seconds workspace_rate_limit free_previews_per_upload free_previews_per_day blender_versions",
			fixed: map[string]string{
				"ok": `true`, "contract": `"SVC-PUBLIC-API-V1"`, "accepted_extensions": `[".blend"]`, "required_render_engine": `"CYCLES"`,
				"render_backend": `"GPU"`, "maximum_upload_size_bytes": `104857600`,
			},
		},
		"Span":                {required: "minimum maximum", fixed: map[string]string{"minimum": `1`, "maximum": `10000`}},
		"RateLimit":           {required: "requests_per_minute_per_client burst"},
		"ApiKeyMetadata":      {required: "key_id name masked_prefix created_at last_used_at revoked_at", optional: "created_by"},
		"ApiKeyList":          {required: "ok keys", fixed: map[string]string{"ok": `true`}},
		"ApiKeyCreateRequest": {required: "name"},
		"ApiKeyCreated":       {required: "ok key key_id name created_at", fixed: map[string]string{"ok": `true`}},
		"ApiKeyRevoked":       {required: "ok key_id revoked", fixed: map[string]string{"ok": `true`, "revoked": `true`}},
		"PreflightRequest":    {required: "filename", optional: "renderer frame_start frame_end frame_count", fixed: map[string]string{"renderer": `"blender"`}},
		"WorkspaceRenders":    {required: "ok renders", fixed: map[string]string{"ok": `true`}},
		"Error":               {required: "ok error", fixed: map[string]string{"ok": `false`}},
		"ErrorDetail":         {required: "code message", optional: "retryable suggested_action request_id retry_after_seconds detail"},
		"RenderObject":        {required: "webhook_configured", open: true},
		"Proof":               {required: "ok job_id proof receipt_url", open: true, fixed: map[string]string{"ok": `true`, "proof": `"receipt_backed"`}},
		"LockedQuote": {
			required: "upload_id quote_id frame_start frame_end frame_count price_cents qualified_1c pricing_version quote", open: true,
		},
	} {
		got, there := d.Components.Schemas[name]
		if !there {
			t.Errorf("there is no schema %s", name)
			continue
		}
		required, all := strings.Fields(want.required), append(strings.Fields(want.required), strings.Fields(want.optional)...)
		for _, member := range required {
			if !slices.Contains(got.Required, member) {
				t.Errorf("%s: %s is not required", name, member)
			}
		}
		slices.Sort(all)
		if members := slices.Sorted(maps.Keys(got.Properties)); !want.open && !slices.Equal(members, all) {
			t.Errorf("%s: the members are %v (and others: %v), want %v and no other", name, members, got.open(), all)
		}
		// What callers send is closed, what they get may grow (decisions 25); spec 2.3 closes one answer.
		if closed := strings.HasSuffix(name, "Request") || name == "Webhooks"; got.open() == closed {
			t.Errorf("%s: others are admitted: %v", name, got.open())
		}
		for member, value := range want.fixed {
			if text := got.Properties[member].only(); text != value {
				t.Errorf("%s: %s can only be %s, want %s", name, member, text, value)
			}
		}
	}
}

// open reports whether an object may have members that are not described.
func (s schema) open() bool {
	others, said := s.AdditionalProperties.(bool)
	return others || !said
}

// only is the one value that a schema admits, as JSON; "" when it admits others.
func (s schema) only() string {
	value := s.Const
	if len(s.Enum) == 1 {
		value = s.Enum[0]
	}
	if s.Items != nil && s.MinItems != nil && s.MaxItems != nil && *s.MinItems == 1 && *s.MaxItems == 1 {
		return "[" + s.Items.only() + "]"
	}
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil || (value == 104857600.0 && string(text) == "1.048576e+08") {
		return "104857600"
	}
	return string(text)
}

// TestTheDocumentHasThePublishedBounds checks what the shapes above leave open:
// bounds, patterns and unique events.
func TestTheDocumentHasThePublishedBounds(t *testing.T) {
	t.Parallel()
	schemas := describedBy(t, api.Document("")).Components.Schemas
	events := schemas["Webhooks"].Properties["terminal_events"]
	if !events.UniqueItems || *events.MinItems != 3 || *events.MaxItems != 3 || len(events.Items.Enum) != 3 {
		t.Errorf("the terminal events are %+v", events)
	}
	if r := schemas["Capabilities"].Properties["renderers"]; *r.MinItems != 1 || *r.MaxItems != 1 {
		t.Errorf("the renderers are %+v", r)
	}
	for _, name := range []string{"ApiKeyMetadata", "ApiKeyCreated", "ApiKeyRevoked"} {
		if got := schemas[name].Properties["key_id"].Pattern; got != "^key_[a-f0-9]{32}$" {
			t.Errorf("%s: a key_id matches %s", name, got)
		}
	}
	if n := schemas["ApiKeyCreateRequest"].Properties["name"]; *n.MinLength != 1 || *n.MaxLength != 80 {
		t.Errorf("a key's name is %+v", n)
	}
	p := schemas["PreflightRequest"].Properties
	if *p["frame_start"].Minimum != 1 || *p["frame_end"].Minimum != 1 || *p["frame_count"].Minimum != 1 || *p["frame_count"].Maximum != 10000 {
		t.Errorf("preflight takes %+v", p)
	}
	if *schemas["ErrorDetail"].Properties["retry_after_seconds"].Minimum != 0 {
		t.Error("retry_after_seconds may be negative")
	}
	for name, members := range map[string][]string{"Health": {"ts"}, "ApiKeyMetadata": {"created_at", "last_used_at", "revoked_at"}} {
		for _, member := range members {
			if got := schemas[name].Properties[member].Format; got != "date-time" {
				t.Errorf("%s: %s is a %s", name, member, got)
			}
		}
	}
}

// TestNoSchemaHidesATypeOfALanguage: generators name types as the schemas, and browsers,
// TypeScript and Go have names of their own. Error is published.
func TestNoSchemaHidesATypeOfALanguage(t *testing.T) {
	t.Parallel()
	taken := strings.Fields(`Array BigInt Blob Boolean Cache Client Comment Credential Date Document Element Event Exclude Extract File FormData
		Function Headers History Image Iterator Location Lock Map Node Notification Number Object Omit Option Partial Pick Plugin Promise Proxy Range
		Readonly Record Reflect RegExp Request Required Response Screen Selection Session Set Storage String Symbol Text URL Worker`)
	for name := range describedBy(t, api.Document("")).Components.Schemas {
		if slices.Contains(taken, name) {
			t.Errorf("%s is a name of a language", name)
		}
	}
}
