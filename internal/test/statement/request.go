package statement

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// caller sends requests. Its variables are what the test prepared and what answers gave.
type caller struct {
	base      string
	variables map[string]string
	files     map[string][]byte // by the name after @
	http      http.Client
}

// fill replaces {NAME} by its variable.
func (c *caller) fill(text string) string {
	pairs := make([]string, 0, 2*len(c.variables))
	for name, value := range c.variables {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// send sends an exchange's request and keeps what it asks to keep.
func (c *caller) send(ctx context.Context, e exchange) (answer, error) {
	line, credential, _ := strings.Cut(c.fill(e.request), " as ")
	method, path, _ := strings.Cut(line, " ")
	kind, content, err := c.body(c.fill(e.body))
	if err != nil {
		return answer{}, err
	}
	if !strings.HasPrefix(path, "http") {
		path = c.base + path
	}
	req, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(content))
	if err != nil {
		return answer{}, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if credential != "" {
		if err := c.authorise(req, credential); err != nil {
			return answer{}, err
		}
	}
	for _, h := range e.headers {
		req.Header.Set(h[0], c.fill(h[1]))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	got := answer{status: res.StatusCode, header: res.Header}
	if got.text, err = io.ReadAll(res.Body); err != nil {
		return answer{}, err
	}
	got.body = decoded(res.Header.Get("Content-Type"), got.text)
	for _, keep := range e.keeps {
		err := got.each(keep[1], func(v any, there bool) error {
			if !there {
				return fmt.Errorf("%s: the answer has no %s to keep: %d %.300s", e.request, keep[1], got.status, got.text)
			}
			c.variables[keep[0]] = fmt.Sprint(v)
			return nil
		})
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

// authorise gives a request one of the prepared credentials. A session is sent as a
// cookie, as by a page of the service itself.
func (c *caller) authorise(req *http.Request, credential string) error {
	secret, known := c.variables["key:"+credential]
	if !known {
		return fmt.Errorf("the credential %q is not prepared", credential)
	}
	if strings.Contains(credential, "session") {
		req.AddCookie(&http.Cookie{Name: "svc_session", Value: secret})
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	return nil
}

// body makes a request's body and its type:
//
//	json TEXT
//	text TYPE TEXT
//	form a=1; b=2                 as a page's form sends it
//	upload a=1; file=@scene       as multipart; @NAME is a prepared file, sent under
//	                              the name after a second @ or as NAME.blend
//	archive a.blend=@scene; b=@c  a multipart upload of a ZIP with these files
func (c *caller) body(line string) (kind string, content []byte, err error) {
	how, rest, _ := strings.Cut(line, " ")
	switch how {
	case "":
		return "", nil, nil
	case "json":
		return "application/json", []byte(rest), nil
	case "text":
		kind, text, _ := strings.Cut(rest, " ")
		return kind, []byte(text), nil
	case "form":
		return "application/x-www-form-urlencoded", []byte(strings.ReplaceAll(rest, "; ", "&")), nil
	case "archive":
		var packed bytes.Buffer
		archive := zip.NewWriter(&packed)
		for _, field := range fields(rest) {
			w, err := archive.Create(field[0])
			if err != nil {
				return "", nil, err
			}
			if _, err := w.Write(c.files[strings.TrimPrefix(field[1], "@")]); err != nil {
				return "", nil, err
			}
		}
		if err := archive.Close(); err != nil {
			return "", nil, err
		}
		c.files["archive"] = packed.Bytes()
		return c.multipart("file=@archive@project.zip")
	}
	return c.multipart(rest)
}

func (c *caller) multipart(text string) (kind string, content []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range fields(text) {
		named, isFile := strings.CutPrefix(field[1], "@")
		if !isFile {
			if err := w.WriteField(field[0], field[1]); err != nil {
				return "", nil, err
			}
			continue
		}
		file, name, given := strings.Cut(named, "@")
		if !given {
			name = file + ".blend"
		}
		part, err := w.CreateFormFile(field[0], name)
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(c.files[file]); err != nil {
			return "", nil, err
		}
	}
	err = w.Close() // writes the end of the form
	return w.FormDataContentType(), b.Bytes(), err
}

// fields are the pairs of "a=1; b=2".
func fields(text string) (all [][2]string) {
	for field := range strings.SplitSeq(text, "; ") {
		if name, value, is := strings.Cut(field, "="); is {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// decoded is a JSON body, also where it comes as the last event of a stream.
func decoded(kind string, text []byte) (body any) {
	if strings.HasPrefix(kind, "text/event-stream") {
		for line := range strings.Lines(string(text)) {
			if data, is := strings.CutPrefix(line, "data: "); is {
				text = []byte(data)
			}
		}
	}
	_ = json.Unmarshal(text, &body) // a body of another type has no members
	return body
}
