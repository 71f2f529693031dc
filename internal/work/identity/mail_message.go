package identity

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"time"

	"svc.example/internal/ground/plaintext"
)

// Message is a mail with a text, the same as HTML, and pictures that the HTML shows.
type Message struct {
	To         string // as address has accepted it
	Subject    string // any text; it cannot become another header
	ID         string // equal for a repeated mail, so that mail programs show it once; no spaces
	Text, HTML string
	Pictures   [][]byte // JPEG; the HTML names the first cid:picture0
	// Unsubscribe is an address that ends such mails by a POST (RFC 8058).
	Unsubscribe string
}

// SendMessage sends a message. It returns after the server has accepted it, with the errors of
// Send.
func (m *Mail) SendMessage(ctx context.Context, message Message) error {
	content, err := m.compose(message)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return m.hand(ctx, message.To, content)
}

// compose writes multipart/related around multipart/alternative, which all mail programs read.
func (m *Mail) compose(message Message) ([]byte, error) {
	var body bytes.Buffer
	related := multipart.NewWriter(&body)
	alternative, err := alternatives(message)
	if err != nil {
		return nil, err
	}
	part := func(header textproto.MIMEHeader, content []byte) {
		if err == nil {
			var w interface{ Write([]byte) (int, error) }
			if w, err = related.CreatePart(header); err == nil {
				_, err = w.Write(content)
			}
		}
	}
	part(textproto.MIMEHeader{"Content-Type": {alternative.kind}}, alternative.body)
	for i, picture := range message.Pictures {
		part(textproto.MIMEHeader{
			"Content-Type": {"image/jpeg"}, "Content-Transfer-Encoding": {"base64"},
			"Content-Id": {fmt.Sprintf("<picture%d>", i)}, "Content-Disposition": {"inline"},
		}, base64Lines(picture))
	}
	if err == nil {
		err = related.Close()
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, header := range [][2]string{
		{"From", m.from.String()},
		{"To", (&mail.Address{Address: message.To}).String()},
		{"Subject", mime.QEncoding.Encode("utf-8", plaintext.Line(message.Subject))},
		{"Date", m.Now().UTC().Format(time.RFC1123Z)},
		{"Message-ID", "<" + message.ID + "@" + domainOf(m.from.Address) + ">"},
		{"List-Unsubscribe", "<" + message.Unsubscribe + ">"},
		{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
		{"Auto-Submitted", "auto-generated"}, // prevents out-of-office answers
		{"MIME-Version", "1.0"},
		{"Content-Type", `multipart/related; type="multipart/alternative"; boundary="` + related.Boundary() + `"`},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	b.WriteString("\r\n")
	b.Write(body.Bytes())
	return b.Bytes(), nil
}

// alternative is a part with its type.
type alternative struct {
	kind string
	body []byte
}

// alternatives writes the text and the HTML.
func alternatives(message Message) (alternative, error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, one := range [][2]string{{"text/plain", message.Text}, {"text/html", message.HTML}} {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {one[0] + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}})
		if err != nil {
			return alternative{}, err
		}
		q := quotedprintable.NewWriter(part)
		if _, err = q.Write([]byte(plaintext.Lines(one[1]))); err == nil {
			err = q.Close()
		}
		if err != nil {
			return alternative{}, err
		}
	}
	err := w.Close()
	return alternative{`multipart/alternative; boundary="` + w.Boundary() + `"`, out.Bytes()}, err
}

// base64Lines encodes in lines of 76 characters, as MIME wants.
func base64Lines(content []byte) []byte {
	const line = 57 // bytes, which are 76 characters
	var b bytes.Buffer
	for len(content) > 0 {
		n := min(line, len(content))
		b.WriteString(base64.StdEncoding.EncodeToString(content[:n]) + "\r\n")
		content = content[n:]
	}
	return b.Bytes()
}

// domainOf is what follows the @ of an address.
func domainOf(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '@' {
			return address[i+1:]
		}
	}
	return "localhost"
}
