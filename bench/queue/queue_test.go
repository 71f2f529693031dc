package queue_test

import (
	"os"
	"testing"
	"time"

	"svc.example/bench/queue"
)

func TestTheDocumentHasWhatTheSimulationPrints(t *testing.T) {
	t.Parallel()
	text, err := queue.Printed.Markdown(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../docs/internal/fair-turns.md")
	if err != nil {
		t.Fatal(err)
	}
	has, _, err := queue.Within(document, text)
	if err != nil || has != text {
		t.Errorf("run go generate ./bench/queue: %v\nhas:\n%s\nprinted:\n%s", err, has, text)
	}
}

// crowded is a farm where one workspace starts more than all GPUs render.
var crowded = queue.Farm{Seed: 1, GPUs: 20, Horizon: 20 * time.Minute, Kinds: []queue.Kind{
	{Name: "much", Workspaces: 1, Jobs: 1, AtOnce: true, Least: 1000, Most: 1000, FrameTime: time.Minute},
	{Name: "little", Workspaces: 5, Jobs: 4, Least: 1, Most: 1, FrameTime: time.Minute},
}}

func TestAWorkspaceOfOneFrameWaitsForNoFilmUnderFairTurns(t *testing.T) {
	t.Parallel()
	fair, err := crowded.FairTurns(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inOrder, err := crowded.FirstComeFirstServed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fair[1].Unbegun != 0 || fair[1].Longest > 2*time.Minute {
		t.Errorf("under fair turns: %+v", fair[1])
	}
	if inOrder[1].Unbegun != inOrder[1].Jobs {
		t.Errorf("in order, after a job that takes longer than the horizon: %+v", inOrder[1])
	}
}

func TestEqualSeedsGiveEqualTables(t *testing.T) {
	t.Parallel()
	var texts []string
	for range 2 {
		text, err := crowded.Markdown(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	other := crowded
	other.Seed++
	text, err := other.Markdown(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if texts[0] != texts[1] || text == texts[0] {
		t.Errorf("one seed:\n%s\n%s\nanother:\n%s", texts[0], texts[1], text)
	}
}
