package client

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func collect(t interface{ Fatal(...any) }, text string) (got []message) {
	if err := readMessages(strings.NewReader(text), func(m message) error { got = append(got, m); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		line := rapid.StringMatching(`[ -~]{0,20}`)
		var text strings.Builder
		var want []message
		for i := range rapid.IntRange(0, 5).Draw(t, "messages") {
			data := rapid.SliceOfN(line, 1, 3).Draw(t, "data")
			m := message{id: fmt.Sprint(i + 1), kind: rapid.SampledFrom([]string{"", "job", "frame"}).Draw(t, "kind"), data: strings.Join(data, "\n")}
			want = append(want, m)
			fmt.Fprintf(&text, "id: %s%s:comment%s", m.id, end, end)
			if m.kind != "" {
				fmt.Fprintf(&text, "event:%s%s", m.kind, end)
			}
			for _, d := range data {
				fmt.Fprintf(&text, "data: %s%s", d, end)
			}
			text.WriteString(end)
		}
		got := collect(t, text.String()+"data: half a mess")
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %q, wanted %q", got, want)
		}
	})
}

func FuzzReadMessages(f *testing.F) {
	f.Add("id: 1\nevent: job\ndata: {}\n\n", 3)
	f.Add(": keep-alive\n\ndata\ndata:  x\r\n\r\n", 9)
	f.Add("data: x\r\n\r\n", 10) // between the two bytes of the last line end
	f.Add("data: x\n\rdata: y\n", 9)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		whole := collect(t, text)
		if cut < 0 || cut > len(text) {
			return
		}
		// A stream that breaks delivers nothing that the whole would not have
		// delivered.
		part := collect(t, text[:cut])
		if len(part) > len(whole) {
			t.Fatalf("a part told %d messages, the whole %d", len(part), len(whole))
		}
		for i := range part {
			if part[i] != whole[i] {
				t.Fatalf("message %d is %q in a part and %q in the whole", i, part[i], whole[i])
			}
		}
	})
}
