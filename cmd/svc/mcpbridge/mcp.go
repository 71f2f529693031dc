// Package mcpbridge has the command mcp: a service's tools for an agent on this machine.
//
// What always holds: the agent sees the tools that the service has, plus local paths where a tool
// takes or returns a file; only .blend files are uploaded, and what their scenes need from their
// folder; only the given folder is written to; the key goes only to the service. The service makes
// the answers. Start reading at bridge; files.go moves files, retry.go waits out the rate limit.
package mcpbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/door/agent"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// oldKeyVariable is the environment variable that had the key before SVC_KEY.
const oldKeyVariable = "SVC_API_KEY"

// Command offers a service's tools to an agent on this machine. It has no flag for the
// key: any process on the machine can read another's command line, and the programs
// that start svc mcp keep their arguments in plain files.
type Command struct {
	profile.ServerFlags
	ProjectRoot string `env:"SVC_PROJECT_ROOT" type:"existingdir" placeholder:"DIR" help:"Folder that the files of scenes may lie in; nothing outside of it is sent. Without it, and for a .blend elsewhere, the folder of the .blend."`
	SaveTo      string `env:"SVC_SAVE_TO" type:"existingdir" placeholder:"DIR" help:"The only folder that svc_download may save into. Without it, the tool returns links only."`
}

// Help is printed below the flags.
func (Command) Help() string {
	return "Speaks the Model Context Protocol on standard input and output. Reads the agent key from the environment variable " + profile.KeyVariable + ", or from the profile, which svc login fills."
}

// Run serves until the agent closes standard input or a signal comes, which is no
// error. It fails at once when the key is missing or the service cannot be reached:
// an agent could not repair either.
func (c *Command) Run() error {
	key := profile.FromEnvironment(oldKeyVariable)
	service, err := profile.Flags{ServerFlags: c.ServerFlags, Key: key}.Service(profile.AgentKey)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	api, err := service.Client()
	if err != nil {
		return err
	}
	if _, err := api.Health(ctx); err != nil { // it explains what is wrong with an address
		return err
	}
	b := newBridge(service.Server, service.Credential)
	b.api = api
	if c.ProjectRoot != "" {
		if b.projects, err = filepath.Abs(c.ProjectRoot); err != nil {
			return fmt.Errorf("find the folder of projects: %w", err)
		}
	}
	if c.SaveTo != "" {
		// A root refuses names that lead out of it, through links too.
		root, err := os.OpenRoot(c.SaveTo)
		if err != nil {
			return fmt.Errorf("open the folder to save into: %w", err)
		}
		defer root.Close()
		b.folder = root
	}
	local, err := b.local(ctx)
	if err != nil {
		return fmt.Errorf("reach the tools of %s: %w", b.server, err)
	}
	if terminal.IsTerminal(os.Stdin) {
		terminal.Printf(os.Stderr, "svc mcp speaks with agents, not with people: have an agent start it. Ctrl-D ends it.")
	}
	defer func() { _ = b.session.Close() }() // best effort: the process ends in any case
	err = local.Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// withKey adds the key to each request. Only requests to the service go through it:
// a signed link carries its own right, and what it leads to must not learn the key.
type withKey struct {
	key  func(context.Context) (string, error)
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. It changes a copy: a RoundTripper must leave
// its request as it is.
func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	key, err := k.key(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+key)
	return k.next.RoundTrip(r)
}

// bridge passes a local agent's calls to a service and moves files for it. Its tools
// may be called concurrently.
type bridge struct {
	server string       // address of the service, without a slash at the end
	http   *http.Client // sends the key
	links  *http.Client // for signed links; never sends the key
	folder *os.Root     // the only folder that is written to; nil saves nothing

	api      *client.Client // sends projects
	projects string         // folder that files of scenes may lie in; "" for that of each .blend

	connecting sync.Mutex // guards session, and lets one call at a time reconnect
	session    *mcp.ClientSession
	transfers
	progress
}

// newBridge makes a bridge that is not connected yet; see remote.
func newBridge(server string, key func(context.Context) (string, error)) *bridge {
	patient := retryRateLimited{http.DefaultTransport}
	return &bridge{
		server: strings.TrimRight(server, "/"), http: &http.Client{Transport: withKey{key, patient}}, links: &http.Client{Transport: patient},
		transfers: transfers{active: map[string]*transfer{}},
	}
}

// remote returns the session with the service, and replaces it when it is still the
// one that the caller found broken. The comparison under the lock makes sure that
// several calls that fail together connect once.
func (b *bridge) remote(ctx context.Context, broken *mcp.ClientSession) (*mcp.ClientSession, error) {
	b.connecting.Lock()
	defer b.connecting.Unlock()
	if b.session != broken {
		return b.session, nil // another call has already reconnected
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "svc mcp", Version: contract.OpenAPIVersion}, &mcp.ClientOptions{ProgressNotificationHandler: b.receive})
	// The session outlives the call that makes it.
	session, err := client.Connect(context.WithoutCancel(ctx), &mcp.StreamableClientTransport{Endpoint: links.Links{PublicURL: b.server}.To(links.AgentPath), HTTPClient: b.http, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	if broken != nil {
		_ = broken.Close()
	}
	b.session = session
	return session, nil
}

// callService calls the service. When the connection fails, it connects again and
// repeats the call once. A repeat does no harm even where the first call arrived: the
// only tool that spends starts one quote at most once. An error that the service sent
// is an answer and is returned as it is.
func callService[R any](ctx context.Context, b *bridge, do func(*mcp.ClientSession) (R, error)) (R, error) {
	b.connecting.Lock()
	session := b.session
	b.connecting.Unlock()
	r, err := do(session)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused {
		return r, err
	}
	again, broken := b.remote(ctx, session)
	if broken != nil {
		return r, errors.Join(err, broken)
	}
	return do(again)
}

// local makes the server that the agent sees: all tools, resources and prompts of the
// service as they are at the start, and file paths where tools move files. The list
// is read once, so a service that is updated needs a new svc mcp.
func (b *bridge) local(ctx context.Context) (*mcp.Server, error) {
	remote, err := b.remote(ctx, nil)
	if err != nil {
		return nil, err
	}
	hello := remote.InitializeResult()
	s := mcp.NewServer(hello.ServerInfo, &mcp.ServerOptions{Instructions: hello.Instructions, Capabilities: hello.Capabilities})
	for tool, err := range remote.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		b.addTool(s, tool)
	}
	for t, err := range remote.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		s.AddResourceTemplate(t, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return callService(ctx, b, func(s *mcp.ClientSession) (*mcp.ReadResourceResult, error) {
				return s.ReadResource(ctx, &mcp.ReadResourceParams{URI: req.Params.URI})
			})
		})
	}
	for p, err := range remote.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		s.AddPrompt(p, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return callService(ctx, b, func(s *mcp.ClientSession) (*mcp.GetPromptResult, error) {
				return s.GetPrompt(ctx, &mcp.GetPromptParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
			})
		})
	}
	return s, nil
}

// addTool adds a tool of the service, with the arguments that only make sense on this
// machine. It changes the schema that the service sent; the agent has no other copy.
func (b *bridge) addTool(s *mcp.Server, tool *mcp.Tool) {
	handle := b.forward
	switch {
	case tool.Name == "svc_inspect":
		addProperty(tool.InputSchema, "file_path", "Absolute path of a .blend file on this machine, which is sent to the service with the files that its scene needs. Use it without other arguments.")
		handle = b.inspect
	case tool.Name == "svc_download" && b.folder != nil:
		addProperty(tool.InputSchema, "save_as", "Where to save the ZIP, relative to the folder that this server may save into, such as render.zip. Without it, the tool returns only the link.")
		addResultProperty(tool.OutputSchema, "saved_to", "The file that was saved. Missing until it is complete.")
		tool.Annotations.ReadOnlyHint = false // with save_as it writes a file
		handle = b.download
	}
	s.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := map[string]any{}
		if len(req.Params.Arguments) > 0 {
			decoder := json.NewDecoder(bytes.NewReader(req.Params.Arguments))
			decoder.UseNumber() // they pass through as they are
			if err := decoder.Decode(&arguments); err != nil {
				return agent.Refuse(fault.New(fault.InvalidRequest, "The arguments are not a JSON object."), "", tool.Name, nil), nil
			}
		}
		r, err := handle(wanted(ctx, req), tool.Name, arguments)
		if err != nil {
			return agent.Refuse(localRefusal(err), "", tool.Name, arguments), nil
		}
		return r, nil
	})
}

// forward passes a call to the service and returns its answer, refusals included. An
// error means that there was no answer; it has the code unavailable.
func (b *bridge) forward(ctx context.Context, tool string, arguments map[string]any) (*mcp.CallToolResult, error) {
	r, err := callService(ctx, b, func(s *mcp.ClientSession) (*mcp.CallToolResult, error) {
		params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
		defer b.listen(ctx, params)()
		return s.CallTool(ctx, params)
	})
	if err != nil {
		return nil, fault.New(fault.Unavailable, "The service did not answer: %v.", err)
	}
	return r, nil
}

// localRefusal turns an error of this machine into one that the agent reads. Its text
// may name local paths: the agent works for the person whose machine this is.
func localRefusal(err error) error {
	if _, known := errors.AsType[*fault.Error](err); known {
		return err
	}
	return fault.New(fault.InvalidRequest, "%v.", err).WithAction("Fix the problem on this machine, then call again.")
}

// addProperty adds an optional string to an object schema of the service. A schema of
// an unexpected form stays as it is: the tool still works, without the local path.
func addProperty(schema any, name, description string) {
	if object, ok := schema.(map[string]any); ok {
		if properties, ok := object["properties"].(map[string]any); ok {
			properties[name] = map[string]any{"type": "string", "description": description}
		}
	}
}

// addResultProperty is addProperty for a tool's result. A result schema is a oneOf,
// with the result first and the refusal second.
func addResultProperty(schema any, name, description string) {
	if object, ok := schema.(map[string]any); ok {
		if either, ok := object["oneOf"].([]any); ok && len(either) > 0 {
			addProperty(either[0], name, description)
		}
	}
}

// withMembers returns an answer of the service with some members replaced and with
// line as its text. The service's own answer stays as it is.
func withMembers(r *mcp.CallToolResult, line string, members map[string]any) *mcp.CallToolResult {
	object, _ := r.StructuredContent.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	maps.Copy(object, members)
	return &mcp.CallToolResult{StructuredContent: object, Content: []mcp.Content{&mcp.TextContent{Text: line}}}
}
