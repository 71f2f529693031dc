package parts_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"svc.example/internal/ground/parts"
)

// part is a part with a header of so many bytes.
func part(header int, content string) string {
	return "--x\r\nContent-Disposition: form-data; name=\"a\"\r\nX-Long: " + strings.Repeat("y", header) + "\r\n\r\n" + content + "\r\n"
}

func TestContentIsUnboundedAndHeadersAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("c", 5*parts.MaxHeaders)
	r := parts.NewReader(strings.NewReader(part(0, long)+part(parts.MaxHeaders/2, "second")+part(0, long)+part(0, "last")+"--x--\r\n"), "x")
	for i, want := range []string{"", "second", long, "last"} { // the first one is left unread
		p, err := r.Next()
		if err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
		if want == "" {
			continue
		}
		if got, err := io.ReadAll(p); err != nil || string(got) != want {
			t.Errorf("part %d has %d bytes, want %d; %v", i, len(got), len(want), err)
		}
	}
	if p, err := r.Next(); !errors.Is(err, io.EOF) || p != nil {
		t.Errorf("after the last part: %v, %v", p, err)
	}
}

func TestLongHeadersAreRefused(t *testing.T) {
	t.Parallel()
	many := strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(&many, "X-%d: y\r\n", i)
	}
	for what, body := range map[string]string{
		"one long header":            part(parts.MaxHeaders, "content"),
		"many headers":               "--x\r\n" + many.String() + "\r\ncontent",
		"a header that never ends":   "--x\r\nX: " + strings.Repeat("y", 1<<20),
		"long before the first part": strings.Repeat("line\r\n", parts.MaxHeaders) + part(0, "content"),
		"a second part":              part(0, "content") + part(2*parts.MaxHeaders, "content"),
	} {
		r := parts.NewReader(strings.NewReader(body), "x")
		var err error
		for range 2 {
			if err == nil {
				_, err = r.Next()
			}
		}
		if !errors.Is(err, parts.ErrHeaders) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
