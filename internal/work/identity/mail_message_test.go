package identity_test

import (
	"bytes"
	"mime"
	"net/mail"
	"strings"
	"testing"

	"svc.example/internal/test/await"
	"svc.example/internal/test/mailtest"
	"svc.example/internal/work/identity"
)

// TestNoLineOfAMailIsTooLongForServers: a line has at most 998 characters (RFC 5322 2.1.1), also
// under a file name of many letters that no header has as they are. The subject stays the same.
func TestNoLineOfAMailIsTooLongForServers(t *testing.T) {
	t.Parallel()
	server := mailtest.Open(t, mailtest.Plain)
	m, err := identity.NewMail("smtp://"+server.Address, "Renders <renders@svc.example>")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{strings.Repeat("é", 255), strings.Repeat("🎬", 255), strings.Repeat("a", 255), "Über \"sicher\" shot.blend"} {
		subject := name + ": 24 frames rendered, 3 to check, 12 new comments"
		err := m.SendMessage(t.Context(), identity.Message{
			To: "a@svc.example", Subject: subject, ID: "x", Unsubscribe: "https://svc.example/notices/x",
			Text: strings.Repeat("ä", 3000), HTML: "<p>" + strings.Repeat("y", 3000), Pictures: [][]byte{bytes.Repeat([]byte{255}, 3000)},
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := await.Next(t, server.Messages, "the mail").Text
		for _, line := range strings.Split(sent, "\r\n") {
			if len(line) > 998 {
				t.Errorf("a line has %d characters: %.60s", len(line), line)
			}
		}
		got, err := mail.ReadMessage(strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		if read, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject")); err != nil || read != subject {
			t.Errorf("the subject %q is read as %q, %v", subject, read, err)
		}
	}
}
