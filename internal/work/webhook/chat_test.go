package webhook_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/webhook"
	"svc.example/internal/work/webhook/chat"
)

// A chat gets messages that people read, without a secret and a signature; what strangers have
// named mentions nobody there.
func TestAChatGetsMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.JobPage = func(jobID string) string { return "https://svc.example/console/jobs/" + jobID }
		chats := map[string]chat.Service{}
		s.Chat = func(address *url.URL) chat.Service { return chats[address.Host] }
		slack, discord, plain := s.receiver(nil), s.receiver(nil), s.receiver(nil)
		chats[strings.TrimPrefix(slack.URL, "https://")] = chat.Slack
		chats[strings.TrimPrefix(discord.URL, "https://")] = chat.Discord
		for _, r := range []*receiver{slack, discord} {
			if _, secret := s.endpoint(r.URL, ""); secret != "" {
				t.Error("a chat has a secret to keep")
			}
		}
		_, secret := s.endpoint(plain.URL, "")
		s.run()
		for _, c := range []struct {
			event string
			data  map[string]any
			want  map[*receiver]string // with JOB for the id
		}{
			{contract.EventCompleted, map[string]any{"filename": "<!channel> *a*_b.blend", "frame_count": 12, "charged_cents": 12, "currency": "USD", "findings": []string{"black"}}, map[*receiver]string{
				slack:   "&lt;!channel&gt; *a*_b.blend is rendered: 12 frames for $0.12. Some frames need a look.\nhttps://svc.example/console/jobs/JOB",
				discord: `\<!channel> \*a\*\_b.blend is rendered: 12 frames for $0.12. Some frames need a look.` + "\nhttps://svc.example/console/jobs/JOB",
			}},
			{contract.EventFailed, map[string]any{"filename": "@everyone.blend", "frame_count": 1, "failure": map[string]string{"message": "See https://evil.example."}}, map[*receiver]string{
				slack:   "@everyone.blend failed after 0 of 1 frame. You paid nothing. See https:\u200b//evil.example.\nhttps://svc.example/console/jobs/JOB",
				discord: "@everyone.blend failed after 0 of 1 frame. You paid nothing. See https:\u200b//evil.example.\nhttps://svc.example/console/jobs/JOB",
			}},
			{contract.EventCancelled, map[string]any{"filename": "a.blend"}, map[*receiver]string{
				slack: "a.blend is cancelled.\nhttps://svc.example/console/jobs/JOB", discord: "a.blend is cancelled.\nhttps://svc.example/console/jobs/JOB",
			}},
		} {
			jobID := id.New(id.Job)
			c.data["job_id"] = jobID
			s.write(func(ctx context.Context, tx *db.Tx) error {
				return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: s.workspace, JobID: jobID, Type: c.event, Data: c.data})
			})
			for r, want := range c.want {
				s.wantMessage(r.next(t), r == discord, strings.ReplaceAll(want, "JOB", jobID))
			}
			if err := plain.next(t).signedWith(secret, false); err != nil {
				t.Errorf("%s: the receiver that is no chat: %v", c.event, err)
			}
		}
		s.audit()
	})
}

// wantMessage checks a call to a chat.
func (s *service) wantMessage(h hit, discord bool, want string) {
	s.t.Helper()
	var got struct {
		Text     string `json:"text"`
		Content  string `json:"content"`
		Mentions *struct {
			Parse []string `json:"parse"`
		} `json:"allowed_mentions"`
	}
	if err := json.Unmarshal(h.body, &got); err != nil {
		s.t.Fatal(err)
	}
	if got.Text+got.Content != want || (got.Content != "") != discord {
		s.t.Errorf("got %s, want %q", h.body, want)
	}
	if discord && (got.Mentions == nil || got.Mentions.Parse == nil || len(got.Mentions.Parse) > 0) {
		s.t.Errorf("the message may mention people: %s", h.body)
	}
	if h.id != "" || h.header.Get("webhook-signature") != "" {
		s.t.Error("a message is signed")
	}
}
