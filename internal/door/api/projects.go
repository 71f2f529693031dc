package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/project"
)

// projectInput lists the files of a project, whose parts were sent before.
type projectInput struct {
	Body struct {
		Main       string           `json:"main" maxLength:"1024" doc:"Path of the .blend to render, one of the files."`
		Files      []project.Listed `json:"files" minItems:"1" maxItems:"10000" nullable:"false"`
		FrameStart *int             `json:"frame_start,omitempty" doc:"First frame; without it the scene's own."`
		FrameEnd   *int             `json:"frame_end,omitempty" doc:"Last frame; without it the scene's own."`
		FrameStep  *int             `json:"frame_step,omitempty" doc:"Every how many frames one is rendered; without it the scene's own."`
		Frames     *frameChoice     `json:"frames,omitempty" doc:"Frames to render: numbers, ranges and ranges with a step, separated by commas, such as 3,7-9 or 10-100x5; or a list of numbers. Replaces frame_start, frame_end and frame_step."`
		ReuseChoice
		settings.Settings
	}
}

// projects registers the making of projects (decisions 16).
func (s *server) projects(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "createProject", Method: http.MethodPost, Path: "/node/v1/projects", Tags: []string{"Job API"},
		Summary:     "Inspect a scene with its files, of parts that were sent, and get a locked quote; spends nothing",
		Description: "Lists the files of a project. Parts that the workspace has not sent are named in `detail.missing` of 409 `parts_missing`: send them, then the project again. `scene.files` says what became of each file that the scene names.",
		Security:    []map[string][]string{{operation.AgentScheme: {}}, {operation.SessionScheme: {}}},
		// A listing takes longer to arrive than the library would wait.
		MaxBodyBytes: contract.MaxProjectBytes, BodyReadTimeout: -1,
		Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AgentKeyOrSession(), s.limitStall, s.idempotent(byBodyOf(contract.MaxProjectBytes))},
	}, s.createProject)
}

// createProject inspects a project and locks its price. Errors: those of
// intake.ReceiveProject and of intake.Received.Quote.
func (s *server) createProject(ctx context.Context, in *projectInput) (*quoteOutput, error) {
	asked, err := in.Body.Frames.choose(in.Body.FrameStart, in.Body.FrameEnd, in.Body.FrameStep)
	if err != nil {
		return nil, err
	}
	received, err := s.Intake.ReceiveProject(ctx, operation.Caller(ctx).WorkspaceID, project.Listing{Main: in.Body.Main, Files: in.Body.Files}, in.Body.Settings)
	if err != nil {
		return nil, err
	}
	defer received.Abort()
	asked.AskReuse = in.Body.Reuse
	i, err := received.Quote(ctx, asked, func(tx *db.Tx, i intake.Inspection) error { return s.keep(ctx, tx, s.quoted(i)) })
	return &quoteOutput{s.quoted(i)}, err
}
