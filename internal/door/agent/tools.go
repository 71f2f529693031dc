package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/plainjson"
)

// The tools of spec 4.5 with svc_preview (decisions 18), in the order in which an agent uses
// them, and those about a workspace.
const (
	inspectTool  toolName = "svc_inspect"
	quoteTool    toolName = "svc_quote"
	previewTool  toolName = "svc_preview"
	startTool    toolName = "svc_start"
	statusTool   toolName = "svc_status"
	downloadTool toolName = "svc_download"
	receiptTool  toolName = "svc_receipt"
	cancelTool   toolName = "svc_cancel"
	jobsTool     toolName = "svc_jobs"
	walletTool   toolName = "svc_wallet"
)

// names returns all tools in that order. It is a function, so that a shared
// slice cannot be changed.
func names() []toolName {
	return []toolName{inspectTool, quoteTool, previewTool, startTool, statusTool, downloadTool, receiptTool, cancelTool, jobsTool, walletTool}
}

// instructions is what a client reads about the server before the first call.
// Many clients put it into the system prompt, so it holds the rules that every
// call depends on.
const instructions = `Renders Blender scenes (.blend, Cycles) on GPUs at a locked price of 1 cent a frame, and proves what it did.
The way: svc_inspect (get the file here, see what is in it and what it costs) -> svc_quote (only for other frames than the scene's own) -> svc_preview (one frame, small and free, before anything is spent) -> svc_start (the only tool that spends) -> svc_status (until the job has ended) -> svc_download (the ZIP) -> svc_receipt (what was rendered, signed). svc_cancel, svc_jobs and svc_wallet are for when they are asked for.
Every answer names the next call in next_tool and next_arguments, and says in poll_after_seconds how long to wait first. A refusal says in error.suggested_action what to do. Every member of an answer is always there; null is what is unknown or does not apply. Amounts are whole cents, times are UTC.
Before svc_start, tell the person you work for the price and the terms, and start only when they agree.
` + notice

// tools builds the one MCP server that answers all requests. It keeps no
// session state, so sharing it between requests is safe. Building it per
// request would resolve every schema each time.
func (s *server) tools() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{
		Name: "svc", Title: title, Version: contract.OpenAPIVersion, WebsiteURL: s.Links.To(links.DocsPath),
		Icons: []mcp.Icon{{Source: s.Links.To(links.IconPath), MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
	}, &mcp.ServerOptions{Instructions: instructions, CompletionHandler: s.complete, Capabilities: &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}, // none of these lists changes
		Completions: &mcp.CompletionCapabilities{},
	}})
	texts := described{}
	add(s, m, texts, inspectDef(), s.inspect)
	add(s, m, texts, quoteDef(), s.quote)
	add(s, m, texts, previewDef(), s.preview)
	add(s, m, texts, startDef(), s.start)
	add(s, m, texts, statusDef(), s.status)
	add(s, m, texts, downloadDef(), s.download)
	add(s, m, texts, receiptDef(), s.receipt)
	add(s, m, texts, cancelDef(), s.cancel)
	add(s, m, texts, jobsDef(), s.jobs)
	add(s, m, texts, walletDef(), s.wallet)
	s.resources(m)
	s.prompts(m)
	m.AddReceivingMiddleware(noSuchTool)
	return m
}

// def describes a tool without its schemas, which come from the types of its
// handler.
type def struct {
	name        toolName
	title       string
	description string
	// What the tool does besides reading: clients ask the person before a call
	// that writes, and more insistently before one that spends. idempotent
	// means that a repetition changes nothing more.
	writes, spends, idempotent bool
	// reachesOut is true when the tool calls an address that the caller names.
	reachesOut bool
}

// tool returns the tool as the MCP library registers it. DestructiveHint marks
// spending, the one effect that cannot be undone.
func (t def) tool(input, output *jsonschema.Schema) *mcp.Tool {
	return &mcp.Tool{
		Name: string(t.name), Title: t.title, Description: t.description, InputSchema: input, OutputSchema: output,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: !t.writes, DestructiveHint: &t.spends, IdempotentHint: t.idempotent, OpenWorldHint: &t.reachesOut,
		},
	}
}

// answer is the result of a tool that succeeded.
type answer interface {
	// lines returns the result as text for a reader, without the next call.
	lines() string
	// following returns the next call, which the text of the result ends with.
	following() nextCall
}

// following implements answer for every result that embeds a step.
func (s step) following() nextCall { return s.nextCall }

// linked is a result that points to MCP resources, such as a preview.
type linked interface{ links() []mcp.Content }

// add registers a tool with the library. It validates arguments itself, because
// an error of the library would name no next call. Errors of handle become
// refusals; the text of unknown ones goes to the log.
func add[In any, Out answer](s *server, m *mcp.Server, texts described, t def, handle func(context.Context, In) (Out, error)) {
	input := inputSchema[In]()
	resolved, err := input.Resolve(nil)
	if err != nil {
		panic(err) // a programming error
	}
	output := answerSchema[Out]()
	loosen(output)
	if len(texts) > 0 {
		output.OneOf[1] = refused()
	}
	texts.shorten(output)
	m.AddTool(t.tool(input, output), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in, sent, err := read[In](t.name, resolved, req.Params.Arguments)
		if err != nil {
			return s.refuse(ctx, err, t.name, sent), nil
		}
		question, err := s.ask(ctx, in, req)
		if question != nil {
			return question, nil
		}
		var out Out
		if err == nil {
			out, err = handle(notify(ctx, req), in)
		}
		if err != nil {
			err = front.EndReason(ctx, err)
			s.report(ctx, t.name, err)
			return s.refuse(ctx, err, t.name, sent), nil
		}
		r := result(out, strings.TrimSpace(out.lines()+"\n"+out.following().text()), false)
		if l, ok := any(out).(linked); ok {
			r.Content = append(r.Content, l.links()...)
		}
		return r, nil
	})
}

// read validates the raw arguments of a call against the tool's schema. It
// returns them decoded as In, and as sent, so that a refusal can repeat them.
// sent is never nil. Errors: invalid_request, price_not_accepted,
// legal_acceptance_required.
func read[In any](tool toolName, schema *jsonschema.Resolved, raw json.RawMessage) (in In, sent arguments, err error) {
	sent = arguments{}
	if len(raw) > 0 {
		if sent, err = argumentsOf(raw); err != nil {
			return in, arguments{}, err
		}
	}
	maps.DeleteFunc(sent, func(_ string, value any) bool { return value == nil }) // as some clients leave an argument out
	if err := schema.Validate(map[string]any(sent)); err != nil {
		return in, sent, badArguments(tool, sent, err)
	}
	if err = json.Unmarshal(unescaped(sent), &in); err != nil { // such as a number that fits the schema and no Go type
		return in, sent, badArguments(tool, sent, err)
	}
	return in, sent, nil
}

// argumentsOf decodes the arguments of a call. Whole numbers stay exact, as far as the service
// has numbers, where a float64 would change them. Error: invalid_request.
func argumentsOf(raw json.RawMessage) (sent arguments, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&sent); err != nil || sent == nil {
		return nil, fault.New(fault.InvalidRequest, "The arguments are not a JSON object.").WithAction(readSchema)
	}
	for name, value := range sent {
		if sent[name], err = exact(value); err != nil {
			return nil, fault.New(fault.InvalidRequest, "The arguments are wrong: %s: a number is too large.", shortened(name)).WithAction(readSchema)
		}
	}
	return sent, nil
}

// exact puts Go's numbers in the place of those of a decoded JSON value.
func exact(value any) (_ any, err error) {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64() // such as 1.0, which is whole too
	case []any:
		for i := range v {
			if v[i], err = exact(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = exact(v[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// report logs an error whose text the caller does not get. A cancelled call is
// no defect and is not logged.
func (s *server) report(ctx context.Context, tool toolName, err error) {
	if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
		s.Log.LogAttrs(ctx, slog.LevelError, "tool failed", slog.String("tool", string(tool)),
			slog.String("request_id", callerOf(ctx).requestID), slog.Any("err", err))
	}
}

// result returns structured as the structured content of a result, and text for
// clients that show only text.
func result(structured any, text string, refused bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: refused, StructuredContent: unescaped(structured), Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// unescaped encodes v as JSON and keeps <, > and & as they are: escaping them
// is for HTML, and a model would read \u003c. It panics for a value that cannot
// be encoded, which is a programming error.
func unescaped(v any) json.RawMessage {
	text, err := plainjson.Marshal(v)
	if err != nil {
		panic(err) // our own types are always written
	}
	return text
}

// noSuchTool is a middleware for calls of svc_render and svc_submit_render,
// which do not exist (spec 4.5) but which agents try. It answers with the tool
// to call instead, where the library would answer with a bare protocol error.
func noSuchTool(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && (p.Name == "svc_render" || p.Name == "svc_submit_render") {
			err := fault.New(fault.ToolNotFound, "There is no tool %s: nothing renders without a locked quote.", p.Name).
				WithAction("Call svc_inspect for a quote, then svc_start with its upload_id and quote_id.")
			return refuse(err, callerOf(ctx).requestID, inspectTool, arguments{}), nil
		}
		return next(ctx, method, req)
	}
}
