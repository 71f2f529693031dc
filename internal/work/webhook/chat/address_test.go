package chat_test

import (
	"net/url"
	"testing"

	"svc.example/internal/work/webhook/chat"
)

func TestChatsAreKnownByTheirAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]chat.Service{
		"https://hooks.slack.com/services/T0/B0/x":           chat.Slack,
		"https://HOOKS.slack.com:443/services/T0/B0/x":       chat.Slack,
		"https://discord.com/api/webhooks/1/x":               chat.Discord,
		"https://discord.com/api/v10/webhooks/1/x?wait=true": chat.Discord,
		"https://canary.discord.com/api/webhooks/1/x":        chat.Discord,
		"https://discord.com/api/webhooks/1/x/slack":         chat.Slack,
		"https://hooks.slack.com/":                           chat.None,
		"https://slack.com/services/T0/B0/x":                 chat.None,
		"https://hooks.slack.com.example.com/services/T0":    chat.None,
		"https://example.com/services/hooks.slack.com":       chat.None,
	} {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := chat.At(parsed); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}
