package identity_test

import (
	"bufio"
	"bytes"
	"net/mail"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/work/identity"
)

// addressLike are texts near to addresses: mostly none, and those that are have
// every oddity that the syntax allows.
func addressLike() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[ <]{0,2}["a-z.+Aİü]{1,6}@[a-zA-Z.]{1,6}[ >]{0,2}`),
		rapid.StringMatching(`["a \\<>@.,;:()\[\]\r\nBcéİ]{1,12}@[a-c.\[\]0-9\r\n:]{1,8}`),
		rapid.SampledFrom([]string{
			" A@Example.COM ", "<a@example.com>", "Somebody <a@example.com>", `"a b"@example.com`, `"a"@example.com`, "a(comment)@example.com",
			"a@example.com\r\nBcc: b@example.com", "\"a\r\n b\"@example.com", "jürgen@example.com", "a@[127.0.0.1]", "a@b@c", "İ@example.com",
		}),
	)
}

func TestAddressHasOneSpellingAndAddsNoHeader(t *testing.T) {
	t.Parallel()
	m, err := identity.NewMail("smtp://127.0.0.1", "renders@svc.example")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		text := addressLike().Draw(t, "address")
		spelling, err := identity.Address(text)
		if err != nil {
			return
		}
		taken++
		if again, err := identity.Address(spelling); err != nil || again != spelling {
			t.Fatalf("%q is spelt %q, then %q, %v", text, spelling, again, err)
		}
		message, err := mail.ReadMessage(bufio.NewReader(bytes.NewReader(m.Message(spelling, "https://svc.example"))))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		to, err := message.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Address != spelling || len(message.Header) != 7 {
			t.Fatalf("%q: to %v, %v in %v", text, to, err, message.Header)
		}
	})
	if taken == 0 {
		t.Error("no text was an address")
	}
}

func TestNoCharacterFoldsIntoAnotherPersonsAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"mi\u212ae@example.com", "\u0130vy@example.com"} {
		if spelling, err := identity.Address(text); err == nil {
			t.Errorf("%q is spelt %q", text, spelling)
		}
	}
	if spelling, err := identity.Address("J\u00dcRGEN@example.com"); err != nil || spelling != "j\u00fcrgen@example.com" {
		t.Errorf("got %q, %v", spelling, err)
	}
}
