package identity

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"

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
	kind, text, err := alternatives(message)
	err = errors.Join(err, addPart(related, textproto.MIMEHeader{"Content-Type": {kind}}, text))
	for i, picture := range message.Pictures {
		err = errors.Join(err, addPart(related, textproto.MIMEHeader{
			"Content-Type": {"image/jpeg"}, "Content-Transfer-Encoding": {"base64"},
			"Content-Id": {fmt.Sprintf("<picture%d>", i)}, "Content-Disposition": {"inline"},
		}, base64Lines(picture)))
	}
	if err = errors.Join(err, related.Close()); err != nil {
		return nil, err
	}
	domain := m.from.Address[strings.LastIndexByte(m.from.Address, '@')+1:]
	head := m.headers(message.To, folded(mime.QEncoding.Encode("utf-8", plaintext.Line(message.Subject))),
		[2]string{"Message-ID", "<" + message.ID + "@" + domain + ">"},
		[2]string{"List-Unsubscribe", "<" + message.Unsubscribe + ">"},
		[2]string{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
		[2]string{"Content-Type", `multipart/related; type="multipart/alternative"; boundary="` + related.Boundary() + `"`})
	return append(head, body.Bytes()...), nil
}

// folded puts each encoded word on a line of its own: servers refuse lines of more than 998
// characters, and a file name in Chinese takes nine for each of its own.
func folded(header string) string { return strings.ReplaceAll(header, "?= =?", "?=\r\n =?") }

// addPart adds one part.
func addPart(to *multipart.Writer, header textproto.MIMEHeader, content []byte) error {
	w, err := to.CreatePart(header)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// alternatives writes the text and the HTML as one part of a media type.
func alternatives(message Message) (kind string, part []byte, err error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, one := range [][2]string{{"text/plain", message.Text}, {"text/html", message.HTML}} {
		var coded bytes.Buffer
		q := quotedprintable.NewWriter(&coded)
		_, failed := q.Write([]byte(plaintext.Lines(one[1])))
		err = errors.Join(err, failed, q.Close(), addPart(w, textproto.MIMEHeader{
			"Content-Type": {one[0] + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"},
		}, coded.Bytes()))
	}
	err = errors.Join(err, w.Close())
	return `multipart/alternative; boundary="` + w.Boundary() + `"`, out.Bytes(), err
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
