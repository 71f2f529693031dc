package agent

import (
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/job"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/quote"
)

// Types of arguments and results whose JSON schema says more than their Go
// type: a pattern, a range or a constant. kinds maps each to its schema. They
// are types and not tags, because one definition then serves every tool that
// uses them.
type (
	uploadID    string
	quoteID     string
	jobID       string
	receiptID   string
	previewID   string
	frameNumber int
	frameStep   int
	cents       int64
	count       int64
	seconds     int
	waitTime    int // seconds
	sha256Hex   string
	legal       string
	address     string // https, given by the caller
	toolName    string
	moment      string // RFC 3339, UTC
	yes         bool
	no          bool
	arguments   map[string]any
)

// kinds returns the schema of each type above, and of types of the work
// packages that results contain. Arguments are validated against these schemas
// (see read), so a range here is a check and not only a description.
func kinds() map[reflect.Type]*jsonschema.Schema {
	text := func(s jsonschema.Schema) *jsonschema.Schema { s.Type = "string"; return &s }
	whole := func(low, high float64) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "integer", Minimum: &low}
		if high > 0 {
			s.Maximum = &high
		}
		return s
	}
	id := func(prefix string) *jsonschema.Schema {
		return text(jsonschema.Schema{Pattern: "^" + prefix + "[0-9a-f]{32}$"})
	}
	constant := func(kind string, value any) *jsonschema.Schema {
		return &jsonschema.Schema{Type: kind, Const: &value}
	}
	longest := contract.MaxWebhookURL
	var tools []any
	for _, name := range names() {
		tools = append(tools, name)
	}
	var bases []any
	for _, basis := range job.EstimateBases {
		bases = append(bases, basis)
	}
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[uploadID]():  id("UPL-"),
		reflect.TypeFor[quoteID]():   id("QTE-"),
		reflect.TypeFor[jobID]():     id("JOB-"),
		reflect.TypeFor[receiptID](): id("RCT-"),
		reflect.TypeFor[previewID](): id("PRV-"),
		reflect.TypeFor[preview.Status](): text(jsonschema.Schema{Enum: []any{
			preview.Queued, preview.Rendering, preview.Ready, preview.Failed, preview.Expired,
		}}),
		reflect.TypeFor[frameNumber](): whole(contract.MinFrames, contract.MaxFrameNumber),
		reflect.TypeFor[frameStep]():   whole(1, contract.MaxFrameNumber),
		reflect.TypeFor[cents]():       whole(0, 0),
		reflect.TypeFor[count]():       whole(0, 0),
		reflect.TypeFor[seconds]():     whole(1, 0),
		reflect.TypeFor[waitTime]():    whole(1, maxWait),
		reflect.TypeFor[sha256Hex]():   text(jsonschema.Schema{Pattern: "^[0-9a-f]{64}$"}),
		reflect.TypeFor[legal]():       text(jsonschema.Schema{Enum: []any{contract.LegalAcceptance}}),
		reflect.TypeFor[address]():     text(jsonschema.Schema{Pattern: "^https://", MaxLength: &longest}),
		reflect.TypeFor[moment]():      text(jsonschema.Schema{Format: "date-time"}),
		reflect.TypeFor[toolName]():    text(jsonschema.Schema{Enum: tools}),
		reflect.TypeFor[yes]():         constant("boolean", true),
		reflect.TypeFor[no]():          constant("boolean", false),
		reflect.TypeFor[arguments]():   {Type: "object"},
		reflect.TypeFor[job.Status](): text(jsonschema.Schema{Enum: []any{
			job.AwaitingSubmit, job.Queued, job.Rendering, job.Packaging, job.Completed, job.Failed, job.Cancelled,
		}}),
		reflect.TypeFor[job.EstimateBasis](): text(jsonschema.Schema{Enum: bases}),
		reflect.TypeFor[job.WaitingReason](): text(jsonschema.Schema{Enum: []any{job.NoWorkerOnline, job.WorkersUnable, job.NoCapableWorker, job.NoMatchingBlender, job.NoTaggedWorker, job.WorkersBusy, job.WorkspaceLimit, job.Paused}}),
		reflect.TypeFor[arrival]():           text(jsonschema.Schema{Enum: []any{awaiting, fetching, here}}),
		reflect.TypeFor[quote.Status]():      text(jsonschema.Schema{Enum: []any{quote.Open, quote.Accepted, quote.Expired}}),
	}
}

// schemaOf returns the schema of T. Each member is listed, and no other member
// is allowed: a misspelt argument is refused instead of being ignored.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: kinds()})
	if err != nil {
		panic(err) // a programming error
	}
	tighten(s)
	return s
}

// inputSchema is schemaOf for arguments, in the subset of JSON Schema that the makers of
// models take: one type for a value, and no constants. An argument that may be left out is
// not null either; read takes a null for one that was left out.
func inputSchema[T any]() *jsonschema.Schema {
	s := schemaOf[T]()
	for _, member := range s.Properties {
		if len(member.Types) == 2 && member.Types[0] == "null" {
			member.Type, member.Types = member.Types[1], nil
			member.Enum = slices.DeleteFunc(member.Enum, func(value any) bool { return value == nil })
		}
	}
	return s
}

// tighten corrects what schema inference leaves open. Results never contain
// null for a list, so a list is "array" and not "null or array". A nullable
// enumeration must list null, or a validator refuses null.
func tighten(s *jsonschema.Schema) {
	if slices.Equal(s.Types, []string{"null", "array"}) {
		s.Type, s.Types = "array", nil
	}
	if s.Enum != nil && slices.Contains(s.Types, "null") {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	for _, member := range s.Properties {
		tighten(member)
	}
	if s.Items != nil {
		tighten(s.Items)
	}
}

// maxWait bounds wait_seconds: many clients give a tool a minute.
const maxWait = 50

// answerSchema returns all that holds of the answers of a tool: its result or a refusal.
// Without the refusal a client that validates output would reject every error.
func answerSchema[T any]() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", OneOf: []*jsonschema.Schema{schemaOf[T](), schemaOf[refusal]()}}
}

// loosen reduces the schema of an answer to what a model needs, because a model pays for
// every word: names, types, enumerated values and descriptions. Ranges, patterns and the
// rule that each member is always present are stated once, in the instructions. "ok" stays
// required: it distinguishes a result from a refusal.
func loosen(s *jsonschema.Schema) {
	s.AdditionalProperties, s.Pattern, s.Format, s.Minimum, s.Maximum, s.MaxLength = nil, "", "", nil, nil, nil
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name != "ok" })
	for name, member := range s.Properties {
		if name == "next_tool" {
			member.Enum = nil // the tools are in the list already
		}
		loosen(member)
	}
	for _, one := range s.OneOf {
		loosen(one)
	}
	if s.Items != nil {
		loosen(s.Items)
	}
}

// refused is the output schema of a refusal for all tools but the first, whose schema
// describes the error.
func refused() *jsonschema.Schema {
	ok := any(false)
	return &jsonschema.Schema{
		Type: "object", Required: []string{"ok"},
		Properties: map[string]*jsonschema.Schema{"ok": {Const: &ok}, "error": {Type: "object"}},
	}
}

// described is the set of descriptions that earlier output schemas contain. An
// agent pays for every word of the tool list, so a text that several results
// share appears only in the first.
type described map[string]bool

// shorten removes from a tool's schema the descriptions that an earlier tool
// has, then adds the rest to the set. Repetitions within one schema stay, so
// that one schema can be read alone as far as possible.
func (d described) shorten(s *jsonschema.Schema) {
	own := described{}
	d.takeOut(s, own)
	maps.Copy(d, own)
}

// takeOut walks the schema for shorten and collects its descriptions in own.
func (d described) takeOut(s *jsonschema.Schema, own described) {
	if d[s.Description] && (s.Type != "" || s.Types != nil) { // otherwise nothing would be left of it
		s.Description = ""
	}
	own[s.Description] = true
	for _, member := range s.Properties {
		d.takeOut(member, own)
	}
	for _, one := range s.OneOf {
		d.takeOut(one, own)
	}
	if s.Items != nil {
		d.takeOut(s.Items, own)
	}
}
