package mcpbridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/client"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/scenefiles"
)

// projectName is the name of the transfer of a project.
func projectName(path string) string { return "project " + path }

// files finds what goes with a .blend on this machine: its own path and those of what its
// scene needs, in the folder that the person named, or else in its own. Hidden files and
// folders are left out: no scene needs them, and files with keys have such names.
func (b *bridge) files(ctx context.Context, path string) (*scenefiles.Disk, []string, error) {
	root := b.projects
	if rest, err := filepath.Rel(root, path); root == "" || err != nil || !filepath.IsLocal(rest) {
		root = ""
	}
	disk, err := scenefiles.OpenDisk(path, root)
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	// The service says what is wrong with a .blend that cannot be read.
	if found, err := disk.Find(ctx, scenefiles.Options{}); err == nil {
		for _, f := range found.Taken(0) {
			if hidden := func(name string) bool { return strings.HasPrefix(name, ".") }; !slices.ContainsFunc(strings.Split(f.Path, "/"), hidden) {
				paths = append(paths, f.Path)
			}
		}
	}
	return disk, paths, ctx.Err()
}

// inspectProject sends a scene with its files in the background. The agent repeats the call
// until they are there: only then does the service have an upload to describe.
func (b *bridge) inspectProject(ctx context.Context, tool, path string, disk *scenefiles.Disk, paths []string) (*mcp.CallToolResult, error) {
	s := b.begin(projectName(path), func(ctx context.Context) (string, error) {
		defer func() { _ = disk.Close() }() // it was only read
		p, err := client.ListProject(ctx, disk.Tree, disk.Main, paths, nil)
		if err != nil {
			return "", err
		}
		quote, err := b.api.InspectProject(ctx, client.ProjectRequest{Project: p})
		if err != nil {
			return "", refusalOf(err)
		}
		return quote.UploadID, nil
	})
	return b.projectResult(ctx, tool, path, s)
}

// projectResult answers with the upload of a project that has arrived, or says that it is on
// its way.
func (b *bridge) projectResult(ctx context.Context, tool, path string, s *transfer) (*mcp.CallToolResult, error) {
	if !s.ended() {
		const action = "The scene's files are being sent. Call svc_inspect again with the same file_path in a moment."
		return withMembers(&mcp.CallToolResult{}, action, map[string]any{
			"ok": true, "status": "fetching", "upload": nil, "quote": nil, "scene": nil, "from_file": nil, "warnings": []any{},
			"suggested_action": action, "next_tool": tool, "next_arguments": map[string]any{"file_path": path}, "poll_after_seconds": 2,
		}), nil
	}
	b.forget(projectName(path))
	if s.err != nil {
		return nil, s.err
	}
	return b.forward(ctx, tool, map[string]any{"upload_id": s.upload})
}

// refusalOf is the service's refusal as the agent reads it.
func refusalOf(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	switch {
	case ok && refused.Code != "":
		return fault.New(fault.Code(refused.Code), "%s", refused.Message).WithAction(refused.SuggestedAction)
	case errors.As(err, new(*client.ChangedError)) || errors.Is(err, os.ErrNotExist):
		return err
	}
	return fault.New(fault.Unavailable, "The files could not be sent: %v.", err)
}
