package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// StreamEvent is an event as a stream brings it.
type StreamEvent struct {
	ID, Kind string
	Preview  struct {
		Frame       int    `json:"frame"`
		ContentType string `json:"content_type"`
		Data        []byte `json:"data"`
	}
	Frame struct {
		Frame   int `json:"frame"`
		Outputs []struct {
			Name string `json:"name"`
		} `json:"outputs"`
	}
	Job struct {
		Status          string  `json:"status"`
		ProgressPercent float64 `json:"progress_percent"`
	}
}

// Listen reads a job's events after the one with the id after, like a program
// that knows only HTTP, until on says enough or the stream ends.
func (c Caller) Listen(url, jobID, after string, on func(StreamEvent) (enough bool)) {
	c.T.Helper()
	request, err := http.NewRequestWithContext(Patient(c.T), http.MethodGet, url+"/v1/renders/"+jobID+"/events", nil)
	if err != nil {
		c.T.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.Account.Secret)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusNoContent {
		return // the client has the end already (decisions 26)
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		c.T.Fatalf("the stream answers %s: %s", answer.Status, text)
	}
	text := json.NewDecoder(&unframed{from: answer.Body})
	for {
		var raw struct {
			ID, Kind string
			Data     json.RawMessage
		}
		if err := text.Decode(&raw); err != nil {
			return // the stream has ended
		}
		s := StreamEvent{ID: raw.ID, Kind: raw.Kind}
		switch raw.Kind {
		case "preview":
			err = json.Unmarshal(raw.Data, &s.Preview)
		case "frame":
			err = json.Unmarshal(raw.Data, &s.Frame)
		case "job":
			err = json.Unmarshal(raw.Data, &s.Job)
		}
		if err != nil {
			c.T.Fatal(err)
		}
		if on(s) {
			return
		}
	}
}

// unframed turns server-sent events into JSON objects with id, kind and data.
type unframed struct {
	from io.Reader
	in   bytes.Buffer
	out  bytes.Buffer
}

func (u *unframed) Read(p []byte) (int, error) {
	for u.out.Len() == 0 {
		chunk := make([]byte, 32<<10)
		n, err := u.from.Read(chunk)
		u.in.Write(chunk[:n])
		for {
			event, rest, found := strings.Cut(u.in.String(), "\n\n")
			if !found {
				break
			}
			u.in.Reset()
			u.in.WriteString(rest)
			u.event(event)
		}
		if err != nil && u.out.Len() == 0 {
			return 0, err
		}
	}
	return u.out.Read(p)
}

func (u *unframed) event(text string) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		fields[name] = value
	}
	if fields["data"] != "" {
		fmt.Fprintf(&u.out, `{"ID":%q,"Kind":%q,"Data":%s}`, fields["id"], fields["event"], fields["data"])
	}
}
