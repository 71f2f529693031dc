// Package chat writes messages for the incoming webhooks of chat services: Slack, Discord and
// what takes their forms.
//
// What always holds: names and messages of strangers mention nobody in a chat and make no links,
// and a message is never longer than the chat takes. It calls nobody: that is left to webhook
// and to the operators' alerts. Start reading at Message.
package chat

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/ground/plaintext"
)

// Service is a chat service whose incoming webhooks show messages. They take a form of their own
// and cannot verify a signature, so they get a message in place of the signed event.
//
// To add one: add its constant, its addresses to At, and its form to Form and escape.
type Service string

// Chats. Slack's form is also that of Mattermost and of Discord addresses that end in /slack,
// which are recognised only at Discord.
const (
	None    Service = ""
	Slack   Service = "slack"
	Discord Service = "discord"
)

// mostShown bounds a message, in characters; Discord takes 2000.
const mostShown = 1500

// At returns the chat whose incoming webhook has this address.
func At(address *url.URL) Service {
	host := strings.TrimSuffix(strings.ToLower(address.Hostname()), ".")
	switch {
	case (host == "hooks.slack.com" || host == "hooks.slack-gov.com") && strings.HasPrefix(address.Path, "/services/"):
		return Slack
	case (host == "discord.com" || host == "discordapp.com" || host == "ptb.discord.com" || host == "canary.discord.com") && strings.HasPrefix(address.Path, "/api/"):
		if strings.HasSuffix(address.Path, "/slack") {
			return Slack
		}
		return Discord
	}
	return None
}

// chatted is what a message tells of an event's data: of a job that has ended, or of a wallet.
type chatted struct {
	JobID           string `json:"job_id"`
	Filename        string `json:"filename"`
	FrameCount      int    `json:"frame_count"`
	FramesCompleted int    `json:"frames_completed"`
	ChargedCents    int64  `json:"charged_cents"`
	AvailableCents  int64  `json:"available_cents"`
	BelowCents      int64  `json:"alert_below_cents"`
	Currency        string `json:"currency"`
	Failure         *struct {
		Message string `json:"message"`
	} `json:"failure"`
	Findings []json.RawMessage `json:"findings"`
}

// Message is the body for a chat of an event's body. jobPage, unless nil, is where people see a
// job. Names and messages come from strangers: they mention nobody and make no links.
func (c Service) Message(body string, jobPage func(jobID string) string) (string, error) {
	var event struct {
		Type string  `json:"type"`
		Test bool    `json:"test"`
		Data chatted `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		return "", fmt.Errorf("read the event for a chat: %w", err)
	}
	text := c.escape(shortened(plaintext.Line(summary(event.Type, event.Data))))
	if event.Test {
		text = "[test mode] " + text
	}
	if jobPage != nil && event.Data.JobID != "" {
		text += "\n" + jobPage(event.Data.JobID)
	}
	out, err := c.Form(text)
	return string(out), err
}

// Form is the body of a message with a text, which may have links. It mentions nobody at Discord.
func (c Service) Form(text string) ([]byte, error) {
	var form any = struct {
		Text string `json:"text"`
	}{text}
	if c == Discord {
		form = struct {
			Content  string `json:"content"`
			Mentions any    `json:"allowed_mentions"`
		}{text, map[string][]string{"parse": {}}}
	}
	return plainjson.Marshal(form)
}

// summary says in one line what has happened.
func summary(event string, d chatted) string {
	frames := fmt.Sprintf("%d frames", d.FrameCount)
	if d.FrameCount == 1 {
		frames = "1 frame"
	}
	switch event {
	case contract.EventCompleted:
		text := fmt.Sprintf("%s is rendered: %s for %s.", d.Filename, frames, numbers.Money(d.ChargedCents, d.Currency))
		if len(d.Findings) > 0 {
			text += " Some frames need a look."
		}
		return text
	case contract.EventFailed:
		text := fmt.Sprintf("%s failed after %d of %s. You paid nothing.", d.Filename, d.FramesCompleted, frames)
		if d.Failure != nil {
			text += " " + d.Failure.Message
		}
		return text
	case contract.EventCancelled:
		return fmt.Sprintf("%s is cancelled.", d.Filename)
	case contract.EventWalletLow:
		return fmt.Sprintf("The wallet runs low: %s are left, and you want to know below %s.", numbers.Money(d.AvailableCents, d.Currency), numbers.Money(d.BelowCents, d.Currency))
	case contract.EventTest:
		return "This is a test. Messages about your jobs will come here."
	}
	return event
}

// shortened keeps the beginning of a text.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= mostShown {
		return text
	}
	return string([]rune(text)[:mostShown]) + "…"
}

var (
	slackEscapes   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "://", ":\u200b//")
	discordEscapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "[", `\[`, "<", `\<`, "://", ":\u200b//")
)

// escape takes a text's meaning as markup away.
func (c Service) escape(text string) string {
	if c == Discord {
		return discordEscapes.Replace(text)
	}
	return slackEscapes.Replace(text)
}
