package web

import (
	"net/http"

	"svc.example/internal/work/benchmark/leaderboard"
)

// resultView is the content of a result's page.
type resultView struct {
	leaderboard.Result
	// Fastest is the samples per minute of the fastest scene: the longest bar.
	Fastest float64
}

// result builds the page of a benchmark result. Errors: result_not_found.
func (s *Site) result(r *http.Request) (page, error) {
	result, err := s.Board.Result(r.Context(), r.PathValue("result_id"))
	if err != nil {
		return page{}, err
	}
	v := resultView{Result: result}
	for _, s := range result.Scenes {
		v.Fastest = max(v.Fastest, s.SamplesPerMinute)
	}
	return page{Template: "result", Title: result.DeviceName + ", " + scoreText(result.Score), JSON: "/node/v1/leaderboard/result/" + result.ResultID, Content: v}, nil
}
