package contract

import (
	"fmt"
	"strings"
)

// The types of webhook events (spec 2.3). Receivers compare them, so a type that was
// published keeps its name and its meaning.
//
// To add one: add its constant and its row in Events, an example of its data in
// internal/door/api/webhooks/describe.go, and call webhook.Publish where it happens. Then run
// `make generate`, which prints the OpenAPI document, docs/webhook-events.md and the types of
// the SDKs.
const (
	EventCompleted = "render.completed"
	EventFailed    = "render.failed"
	EventCancelled = "render.cancelled"
	EventWalletLow = "wallet.low"
	EventTest      = "webhook.test"
)

// Event is a row of the table of webhook events.
type Event struct {
	Type      string
	Operation string // its operation id in the OpenAPI document
	Summary   string // what has happened, in a few words
	EndsJob   bool   // its data is the job that has ended
}

// Events returns all webhook events.
func Events() []Event {
	return []Event{
		{EventCompleted, "renderCompleted", "A job is completed", true},
		{EventFailed, "renderFailed", "A job has failed", true},
		{EventCancelled, "renderCancelled", "A job is cancelled", true},
		{EventWalletLow, "walletLow", "The wallet runs low", false},
		{EventTest, "webhookTest", "You asked for a test", false},
	}
}

// TerminalEvents returns the types of the events that end a job.
func TerminalEvents() (types []string) {
	for _, e := range Events() {
		if e.EndsJob {
			types = append(types, e.Type)
		}
	}
	return types
}

// EventsMarkdown prints the table of webhook events.
func EventsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Webhook events\n\nPrinted from `internal/ground/contract` by `make generate`; do not edit.\n\n" +
		"If your server receives webhooks, these are the events that it gets.\n\n" +
		"| type | what has happened | ends a job |\n|---|---|---|\n")
	for _, e := range Events() {
		ends := "no"
		if e.EndsJob {
			ends = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Type, e.Summary, ends)
	}
	b.WriteString("\nThe `data` of an event that ends a job is that job. The OpenAPI document describes the `data` of each event in its section `webhooks`. [Webhooks](webhooks.md) says how events are signed and delivered.\n")
	return b.String()
}
