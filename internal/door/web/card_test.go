package web_test

import (
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
)

// TestASharedResultHasTitleSentenceAndPicture reads what sites that show a shared link do.
func TestASharedResultHasTitleSentenceAndPicture(t *testing.T) {
	t.Parallel()
	started, base := apptest.Start(t, app.Config{AllowSynthetic: true})
	fleet, err := leaderboardtest.NewFleet(t.Context(), started.Board(started.Links(base)))
	if err != nil {
		t.Fatal(err)
	}
	ranked, err := fleet.Submit(t.Context(), leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9000, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	// The same of a run that says it was rendered, and answers no challenge.
	r := leaderboardtest.Run("NVIDIA GeForce RTX 4090", 24, 9100, time.Now())
	s, err := fleet.Sign(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Synthetic, s.Worker.Synthetic = false, false
	m, err := fleet.NewMachine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.NodeKeyID = m.Node
	if err := fleet.Seal(&s, r, m); err != nil {
		t.Fatal(err)
	}
	doubted, err := fleet.Board.Submit(t.Context(), s)
	if err != nil || doubted.Standing != benchmark.Unverified {
		t.Fatalf("%+v, %v", doubted, err)
	}
	for resultID, want := range map[string]string{ranked.ResultID: "rank 1 of 1", doubted.ResultID: "not verified"} {
		page := base + "/leaderboard/result/" + resultID
		answer, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`<meta property="og:title" content="NVIDIA GeForce RTX 4090, 9,`, want, `<meta property="og:image" content="` + page + `/card.png">`} {
			if !strings.Contains(string(text), part) {
				t.Errorf("the page of %s does not have %q", resultID, part)
			}
		}
		picture, err := http.Get(page + "/card.png")
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(picture.Body)
		picture.Body.Close()
		if err != nil || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
			t.Errorf("the picture of %s: %v", resultID, err)
		}
	}
	if answer, err := http.Get(base + "/leaderboard/result/BMR-none/card.png"); err != nil || answer.StatusCode != http.StatusNotFound {
		t.Errorf("the picture of no result: %v, %v", answer, err)
	} else {
		answer.Body.Close()
	}
	for _, path := range []string{"/leaderboard", "/leaderboard/gpu/nvidia-geforce-rtx-4090"} {
		answer, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(text), "unverified") || len(text) > 20_000 {
			t.Errorf("%s does not say what is unverified, or has %d bytes: %v", path, len(text), err)
		}
	}
}
