package public

import (
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
)

// resultView is the content of a result's page.
type resultView struct {
	leaderboard.Result
	// Fastest is the samples per minute of the fastest scene: the longest bar.
	Fastest float64
}

// Doubt says why a result is not verified; "" of one that is.
func (v resultView) Doubt() string {
	switch v.Verification {
	case benchmark.Waiting:
		return "This result waits for a worker of another key to render its picture too. Until then it is in no rank."
	case benchmark.Unverified:
		return "This result is not verified: it answers no challenge of this service. It is in no rank and no figure."
	case benchmark.Outlier:
		return "This result is far above all others of its GPU. It is in no rank and no figure."
	case benchmark.Refuted:
		return "Two workers of other keys rendered the picture of this result, and it is another one. It is in no rank, no figure and no list."
	}
	return ""
}

// result builds the page of a benchmark result. Errors: result_not_found.
func (s *Site) result(r *http.Request) (page.Page, error) {
	result, err := s.Board.Result(r.Context(), r.PathValue("result_id"))
	if err != nil {
		return page.Page{}, err
	}
	v := resultView{Result: result}
	for _, s := range result.Scenes {
		v.Fastest = max(v.Fastest, s.SamplesPerMinute)
	}
	title := result.DeviceName + ", " + page.ScoreText(result.Score)
	return page.Page{
		Template: "result", Title: title, JSON: "/node/v1/leaderboard/result/" + result.ResultID, Content: v,
		Card: &page.Card{Title: title, Text: result.ShareText, URL: result.PublicResultURL, Picture: result.PublicResultURL + "/card.png"},
	}, nil
}
