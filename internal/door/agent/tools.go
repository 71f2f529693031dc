package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/plainjson"
)

// The tools of spec 4.5, in the order of their use.
const (
	inspectTool  toolName = "svc_inspect"
	quoteTool    toolName = "svc_quote"
	startTool    toolName = "svc_start"
	statusTool   toolName = "svc_status"
	downloadTool toolName = "svc_download"
	receiptTool  toolName = "svc_receipt"
)

func names() []toolName {
	return []toolName{inspectTool, quoteTool, startTool, statusTool, downloadTool, receiptTool}
}

// instructions is what a client is told of the server before it calls anything.
const instructions = `Renders Blender scenes (.blend, Cycles) on GPUs at a locked price of 1 cent a frame, and proves what it did.
The way: svc_inspect (get the file here, see what is in it and what it costs) -> svc_quote (only for other frames than the scene's own) -> svc_start (the only tool that spends) -> svc_status (until the job has ended) -> svc_download (the ZIP) -> svc_receipt (what was rendered, signed).
Every answer names the next call in next_tool and next_arguments, and says in poll_after_seconds how long to wait first. A refusal says in error.suggested_action what to do.
Before svc_start, tell the person you work for the price and the terms, and start only when they agree.
` + notice

// server makes the one server that answers all requests: it keeps nothing
// between them.
func (d *door) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{
		Name: "svc", Title: title, Version: contract.OpenAPIVersion, WebsiteURL: d.Links.To(links.DocsPath),
	}, &mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}, // none ever changes
	}})
	told := described{}
	add(d, s, told, inspectDef(), d.inspect)
	add(d, s, told, quoteDef(), d.quote)
	add(d, s, told, startDef(), d.start)
	add(d, s, told, statusDef(), d.status)
	add(d, s, told, downloadDef(), d.download)
	add(d, s, told, receiptDef(), d.receipt)
	d.resources(s)
	d.prompts(s)
	s.AddReceivingMiddleware(noSuchTool)
	return s
}

// def describes a tool but for its schemas.
type def struct {
	name        toolName
	title       string
	description string
	// What the tool does to the world, beside reading.
	writes, spends, idempotent bool
	// reachesOut says that it calls addresses that the caller names.
	reachesOut bool
}

func (t def) tool(input, output *jsonschema.Schema) *mcp.Tool {
	return &mcp.Tool{
		Name: string(t.name), Title: t.title, Description: t.description, InputSchema: input, OutputSchema: output,
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: !t.writes, DestructiveHint: &t.spends, IdempotentHint: t.idempotent, OpenWorldHint: &t.reachesOut,
		},
	}
}

// answer is what a tool answers with when it could do what it was asked.
type answer interface {
	// lines is the answer for a reader, without the next call.
	lines() string
	following() next
}

func (s step) following() next { return s.next }

// linked is an answer that points to resources.
type linked interface{ links() []mcp.Content }

// add registers a tool: its arguments are held to its schema, and its errors
// leave as refusals.
func add[In any, Out answer](d *door, s *mcp.Server, told described, t def, handle func(context.Context, In) (Out, error)) {
	input := schemaOf[In]()
	resolved, err := input.Resolve(nil)
	if err != nil {
		panic(err) // a programming error
	}
	output := answerSchema[Out]()
	told.shorten(output)
	s.AddTool(t.tool(input, output), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in, told, err := read[In](t.name, resolved, req.Params.Arguments)
		if err != nil {
			return refuse(err, callerOf(ctx).requestID, t.name, told), nil
		}
		out, err := handle(ctx, in)
		if err != nil {
			d.report(ctx, t.name, err)
			return refuse(err, callerOf(ctx).requestID, t.name, told), nil
		}
		r := result(out, strings.TrimSpace(out.lines()+"\n"+out.following().text()), false)
		if l, ok := any(out).(linked); ok {
			r.Content = append(r.Content, l.links()...)
		}
		return r, nil
	})
}

// read holds arguments to a tool's schema.
func read[In any](tool toolName, schema *jsonschema.Resolved, sent json.RawMessage) (in In, told arguments, err error) {
	told = arguments{}
	if len(sent) > 0 {
		if err := json.Unmarshal(sent, &told); err != nil || told == nil {
			return in, arguments{}, fault.New(fault.InvalidRequest, "The arguments are no JSON object.")
		}
	}
	if err := schema.Validate(map[string]any(told)); err != nil {
		return in, told, badArguments(tool, told, err)
	}
	if len(sent) > 0 {
		err = json.Unmarshal(sent, &in)
	}
	if err != nil { // such as a number that fits the schema and no machine
		return in, told, badArguments(tool, told, err)
	}
	return in, told, nil
}

// report logs an error that the caller is not told.
func (d *door) report(ctx context.Context, tool toolName, err error) {
	if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
		d.Log.LogAttrs(ctx, slog.LevelError, "tool failed", slog.String("tool", string(tool)),
			slog.String("request_id", callerOf(ctx).requestID), slog.Any("error", err))
	}
}

// result is an answer for programs, and the same for readers.
func result(structured any, text string, refused bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: refused, StructuredContent: unescaped(structured), Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// unescaped writes JSON with <, > and & as they are: escaping them is for HTML.
func unescaped(v any) json.RawMessage {
	text, err := plainjson.Marshal(v)
	if err != nil {
		panic(err) // our own types are always written
	}
	return text
}

// noSuchTool answers calls of tools that other renderers have, and some believe
// are here (spec 4.5), with what to call instead.
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
