// Package mcpbridge has the command mcp: a service's tools for an agent on this machine.
//
// What always holds: the agent sees the tools that the service has, and files by their
// path; only scenes are sent, and only the given folder is written to; the key goes to
// the service and to nobody else. It leaves the answers to the service. Start reading at
// bridge; files.go moves files.
package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/door/agent"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// apiKeyVariable holds the agent key of svc mcp. It is no flag: a key on a
// command line is seen by every process of the machine.
const apiKeyVariable = "SVC_API_KEY"

// Command offers a service's tools to an agent on this machine.
type Command struct {
	Server string `env:"SVC_SERVER" default:"http://127.0.0.1:8080" help:"Address of the service."`
	SaveTo string `env:"SVC_SAVE_TO" type:"existingdir" placeholder:"DIR" help:"Folder that svc_download may save into, and nowhere else. Without it, it gives links only."`
}

// Help is shown under the flags.
func (Command) Help() string {
	return "Speaks the Model Context Protocol on standard input and output. The agent key comes from the variable " + apiKeyVariable + "."
}

// Run serves until the agent closes standard input.
func (c *Command) Run() error {
	key := os.Getenv(apiKeyVariable)
	if !strings.HasPrefix(key, contract.AgentKeyPrefix) {
		return terminal.WrongUsagef("set %s to an agent key, %s…", apiKeyVariable, contract.AgentKeyPrefix)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := newBridge(c.Server, key)
	if c.SaveTo != "" {
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
	defer func() { _ = b.session.Close() }() // it is the service's to mind
	err = local.Run(ctx, &mcp.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// withKey sends the key to the service with each request.
type withKey struct {
	key  string
	next http.RoundTripper
}

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

// bridge passes a local agent's calls to a service, and moves files for it.
type bridge struct {
	server string
	http   *http.Client // with the key
	links  *http.Client // for signed links, which never see the key
	folder *os.Root     // that may be saved into; nil = none

	connecting sync.Mutex
	session    *mcp.ClientSession
	transfers
}

func newBridge(server, key string) *bridge {
	patient := retryRateLimited{http.DefaultTransport}
	return &bridge{
		server: strings.TrimRight(server, "/"), http: &http.Client{Transport: withKey{key, patient}}, links: &http.Client{Transport: patient},
		transfers: transfers{active: map[string]*transfer{}},
	}
}

// remote is the session with the service: a new one in the place of broken.
func (b *bridge) remote(ctx context.Context, broken *mcp.ClientSession) (*mcp.ClientSession, error) {
	b.connecting.Lock()
	defer b.connecting.Unlock()
	if b.session != broken {
		return b.session, nil // another call was faster
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "svc mcp", Version: contract.OpenAPIVersion}, nil)
	// The session outlives the call that needs it.
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

// callService calls the service, and once more over a new session when the present one
// broke: every call may be repeated.
func callService[R any](ctx context.Context, b *bridge, do func(*mcp.ClientSession) (R, error)) (R, error) {
	b.connecting.Lock()
	session := b.session
	b.connecting.Unlock()
	r, err := do(session)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused {
		return r, err // an answer, of a service that is there
	}
	again, broken := b.remote(ctx, session)
	if broken != nil {
		return r, errors.Join(err, broken)
	}
	return do(again)
}

// local makes the server that the agent sees: all that the service offers, and
// files by their path where a path means something.
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

// addTool adds a tool of the service, with what this machine can do beside it.
func (b *bridge) addTool(s *mcp.Server, tool *mcp.Tool) {
	handle := b.forward
	switch {
	case tool.Name == "svc_inspect":
		addProperty(tool.InputSchema, "file_path", "Absolute path of a .blend file on this machine; it is sent to the service. Not together with other arguments.")
		handle = b.inspect
	case tool.Name == "svc_download" && b.folder != nil:
		addProperty(tool.InputSchema, "save_as", "Where to save the ZIP, relative to the folder that this server may save into, such as render.zip. Only the link is given without it.")
		addResultProperty(tool.OutputSchema, "saved_to", "The file that was saved; missing until it is whole.")
		tool.Annotations.ReadOnlyHint = false
		handle = b.download
	}
	s.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := map[string]any{}
		if len(req.Params.Arguments) > 0 {
			if err := json.Unmarshal(req.Params.Arguments, &arguments); err != nil {
				return agent.Refuse(fault.New(fault.InvalidRequest, "The arguments are no JSON object."), "", tool.Name, nil), nil
			}
		}
		r, err := handle(ctx, tool.Name, arguments)
		if err != nil {
			return agent.Refuse(localRefusal(err), "", tool.Name, arguments), nil
		}
		return r, nil
	})
}

// forward has the service answer.
func (b *bridge) forward(ctx context.Context, tool string, arguments map[string]any) (*mcp.CallToolResult, error) {
	r, err := callService(ctx, b, func(s *mcp.ClientSession) (*mcp.CallToolResult, error) {
		return s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	})
	if err != nil {
		return nil, fault.New(fault.Unavailable, "The service did not answer: %v.", err)
	}
	return r, nil
}

// localRefusal tells an error of this machine to the agent: it runs for the person
// whose machine it is.
func localRefusal(err error) error {
	if _, known := errors.AsType[*fault.Error](err); known {
		return err
	}
	return fault.New(fault.InvalidRequest, "%v.", err).WithAction("Mend what the message says on this machine, then call again.")
}

// addProperty adds an optional text to a schema of the service.
func addProperty(schema any, name, description string) {
	if object, ok := schema.(map[string]any); ok {
		if properties, ok := object["properties"].(map[string]any); ok {
			properties[name] = map[string]any{"type": "string", "description": description}
		}
	}
}

// addResultProperty is addProperty for an answer, which comes before the
// refusal in the schema.
func addResultProperty(schema any, name, description string) {
	if object, ok := schema.(map[string]any); ok {
		if either, ok := object["oneOf"].([]any); ok && len(either) > 0 {
			addProperty(either[0], name, description)
		}
	}
}

// withMembers is an answer of the service with other members and a line more.
func withMembers(r *mcp.CallToolResult, line string, members map[string]any) *mcp.CallToolResult {
	object, _ := r.StructuredContent.(map[string]any)
	object = maps.Clone(object)
	maps.Copy(object, members)
	return &mcp.CallToolResult{StructuredContent: object, Content: []mcp.Content{&mcp.TextContent{Text: line}}}
}
