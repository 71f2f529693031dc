package public

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/work/benchmark/leaderboard"
)

// leaderboardAge lets caches answer without asking for 15 seconds. A new result
// may appear that much later.
const leaderboardAge = "public, max-age=15"

// topRows is how many results the list of the best has.
const topRows = contract.LatestMost

// tagged is an answer whose ETag is a hash of its content. It needs no version
// number, and it stays the same over restarts and over processes.
type tagged[T any] struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	ETag         string `header:"ETag" doc:"Changes with the content."`
	Body         T
}

type topBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Top
}

type statsBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Stats
}

type resultBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Result
}

type gpuBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.GPU
}

type gpusBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.GPUs
}

type comparisonBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Comparison
}

type foundBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Found
}

type latestBody struct {
	OK          bool              `json:"ok" const:"true"`
	Limit       int               `json:"limit" doc:"As asked, or 25."`
	ResultCount int               `json:"result_count" doc:"Results in this answer."`
	Rows        []leaderboard.Row `json:"rows" doc:"The newest first, CPUs' results too."`
	Results     []leaderboard.Row `json:"results" doc:"The same as rows."`
}

type rankBody struct {
	OK bool `json:"ok" const:"true"`
	leaderboard.Ranked
}

type rankInput struct {
	operation.Conditional
	Score float64 `query:"score" required:"true" minimum:"0" maximum:"1000000" doc:"Samples per minute, rounded to the thousandth." example:"5120.4"`
}

// Resolve refuses what is a number to the parser and no score: NaN passes every bound.
func (in *rankInput) Resolve(huma.Context) []error {
	if math.IsNaN(in.Score) {
		return []error{&huma.ErrorDetail{Location: "query.score", Message: "expected a number", Value: "NaN"}}
	}
	return nil
}

type resultInput struct {
	operation.Conditional
	ResultID string `path:"result_id" maxLength:"100" doc:"Begins with BMR-." example:"BMR-0190b4a1c2d37e4f8a9b0c1d2e3f4a5b"`
}

type gpuInput struct {
	operation.Conditional
	Slug string `path:"gpu_slug" maxLength:"200" example:"nvidia-geforce-rtx-4090"`
}

type compareInput struct {
	operation.Conditional
	A string `path:"gpu_a" maxLength:"200" doc:"The slug of GPU A." example:"nvidia-geforce-rtx-4090"`
	B string `path:"gpu_b" maxLength:"200" doc:"The slug of GPU B." example:"amd-radeon-rx-7900-xtx"`
}

type searchInput struct {
	operation.Conditional
	Query string `query:"q" maxLength:"200" doc:"Words that must all be in a GPU's name, or in one of a result's members: GPU, driver, CPU, system, Blender, device. Or a result's or receipt's id." example:"rtx 4090"`
}

type latestInput struct {
	operation.Conditional
	Limit int `query:"limit" minimum:"1" maximum:"100" default:"25"`
}

// leaderboard registers the benchmark API (spec 4.6).
func (s *Server) leaderboard(api huma.API) {
	const path = "/node/v1/leaderboard/"
	read(api, "getLeaderboardTop", path+"top", "The best results, by score", func(ctx context.Context, _ *operation.Conditional) (topBody, error) {
		top, err := s.Board.Top(ctx, topRows)
		return topBody{true, top}, err
	})
	read(api, "getLeaderboardStats", path+"stats", "The leaderboard in short", func(ctx context.Context, _ *operation.Conditional) (statsBody, error) {
		stats, err := s.Board.Stats(ctx)
		return statsBody{true, stats}, err
	})
	read(api, "getLeaderboardResult", path+"result/{result_id}", "One result, with its signed receipts", func(ctx context.Context, in *resultInput) (resultBody, error) {
		result, err := s.Board.Result(ctx, in.ResultID)
		return resultBody{true, result}, err
	})
	read(api, "getLeaderboardGPU", path+"gpu/{gpu_slug}", "One GPU: its figures and newest results", func(ctx context.Context, in *gpuInput) (gpuBody, error) {
		gpu, err := s.Board.GPU(ctx, in.Slug)
		return gpuBody{true, gpu}, err
	})
	read(api, "listLeaderboardGPUs", path+"gpus", "Every GPU that has results", func(ctx context.Context, _ *operation.Conditional) (gpusBody, error) {
		gpus, err := s.Board.GPUs(ctx)
		return gpusBody{true, gpus}, err
	})
	read(api, "compareLeaderboardGPUs", path+"compare/{gpu_a}/{gpu_b}", "Two GPUs side by side", func(ctx context.Context, in *compareInput) (comparisonBody, error) {
		c, err := s.Board.Compare(ctx, in.A, in.B)
		return comparisonBody{true, c}, err
	})
	read(api, "searchLeaderboard", path+"search", "Find GPUs and results", func(ctx context.Context, in *searchInput) (foundBody, error) {
		found, err := s.Board.Search(ctx, in.Query)
		return foundBody{true, found}, err
	})
	read(api, "getLeaderboardLatest", path+"latest", "The newest results", func(ctx context.Context, in *latestInput) (latestBody, error) {
		rows, err := s.Board.Latest(ctx, in.Limit)
		return latestBody{OK: true, Limit: in.Limit, ResultCount: len(rows), Rows: rows, Results: rows}, err
	})
	read(api, "getLeaderboardRank", path+"rank", "The place that a score would have", func(ctx context.Context, in *rankInput) (rankBody, error) {
		ranked, err := s.Board.Rank(ctx, in.Score)
		return rankBody{true, ranked}, err
	})
}

// read registers a public route whose answer is tagged. The body is encoded to
// compute the tag even when the caller has it: that saves transfer, not work.
func read[I, B any, P interface {
	*I
	Matches(tag string) bool
}](api huma.API, id, path, summary string, answer func(context.Context, P) (B, error)) {
	huma.Register(api, huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"Leaderboard"}, Summary: summary, Middlewares: huma.Middlewares{operation.KeepRequestID},
		Responses: map[string]*huma.Response{"304": operation.NotModified()},
	}, func(ctx context.Context, in *I) (*tagged[B], error) {
		body, err := answer(ctx, in)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := operation.Marshal(&text, body); err != nil {
			return nil, fmt.Errorf("write answer: %w", err)
		}
		sum := sha256.Sum256(text.Bytes())
		out := &tagged[B]{Status: http.StatusOK, CacheControl: leaderboardAge, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`, Body: body}
		if P(in).Matches(out.ETag) {
			out.Status = http.StatusNotModified
		}
		return out, nil
	})
}
