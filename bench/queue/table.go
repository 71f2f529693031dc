package queue

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
)

// Printed is the farm of docs/internal/fair-turns.md: a thousand GPUs and five hundred workspaces, ten of
// which start more than all GPUs render within the horizon.
var Printed = Farm{Seed: 21, GPUs: 1000, Horizon: time.Hour, Kinds: []Kind{
	{Name: "a film at once", Workspaces: 10, Jobs: 1, AtOnce: true, Least: 1500, Most: 2500, FrameTime: 6 * time.Minute},
	{Name: "a shot now and then", Workspaces: 90, Jobs: 2, Least: 10, Most: 50, FrameTime: 3 * time.Minute},
	{Name: "a still", Workspaces: 400, Jobs: 2, Least: 1, Most: 2, FrameTime: 2 * time.Minute},
}}

// Lines between which a document has what Markdown returns.
const (
	Begin = "<!-- printed by bench/queue: do not edit -->"
	End   = "<!-- end of what bench/queue prints -->"
)

// Markdown simulates the farm under both rules and returns the table. folder is an empty
// one for the database.
func (f Farm) Markdown(ctx context.Context, folder string) (string, error) {
	fair, err := f.FairTurns(ctx, folder)
	if err != nil {
		return "", err
	}
	inOrder, err := f.FirstComeFirstServed(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d GPUs, %d workspaces, %s, seed %d. Waiting is the time from a job's start to its first frame; one that has none at the end counts as waiting until then.\n\n",
		f.GPUs, f.Workspaces(), f.Horizon, f.Seed)
	fmt.Fprintln(&b, "| workspaces | jobs | frames | fair turns: median | 95 % | longest | GPU hours of one | in order: median | 95 % | longest | GPU hours of one |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|---|---|---|---|")
	for i, k := range f.Kinds {
		fmt.Fprintf(&b, "| %d with %s | %d | %d |%s |%s |\n", k.Workspaces, k.Name, fair[i].Jobs, fair[i].Frames, fair[i].cells(), inOrder[i].cells())
	}
	return b.String(), nil
}

// cells are the columns of a rule.
func (w Waits) cells() string {
	longest := w.Longest.Round(100 * time.Millisecond).String()
	if w.Unbegun > 0 {
		longest = fmt.Sprintf("%d never begun", w.Unbegun)
	}
	return fmt.Sprintf(" %s | %s | %s | %.1f to %.1f", w.Median.Round(100*time.Millisecond), w.P95.Round(100*time.Millisecond), longest, w.LeastServed.Hours(), w.MostServed.Hours())
}

// Within returns what a document has between Begin and End, and the document with text
// there instead. Error: a document without these lines.
func Within(document []byte, text string) (has string, replaced []byte, err error) {
	before, rest, found := bytes.Cut(document, []byte(Begin+"\n"))
	between, after, ended := bytes.Cut(rest, []byte(End+"\n"))
	if !found || !ended {
		return "", nil, fmt.Errorf("the document lacks the line %q or %q", Begin, End)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(Begin + "\n")
	b.WriteString(text)
	b.WriteString(End + "\n")
	b.Write(after)
	return string(between), b.Bytes(), nil
}
