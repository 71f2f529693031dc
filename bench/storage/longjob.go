package storage

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/id"
)

// Two of the jobs of Console have more frames than one, and pictures.
const (
	longJob, longFrames   = 1, 2000
	shortJob, shortFrames = 2, 20
)

// longRows makes the job of number $n one of $frames frames, whose times and hashes differ as those
// of real frames do, and whose files are still kept.
const longRows = `
UPDATE frame SET sha256 = lower(hex(randomblob(32))), render_us = 1000000 + abs(random()) % 9000000 WHERE job_id = '$job';
CREATE TABLE longer AS WITH RECURSIVE numbers(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM numbers WHERE i < $frames)
SELECT frame.*, i FROM frame, numbers WHERE job_id = '$job';
UPDATE longer SET frame = i, seq = seq + i, ordinal = i, sha256 = lower(hex(randomblob(32))), render_us = 1000000 + abs(random()) % 9000000,
  file = 'frame_' || i || '.png', blob_key = 'frames/$job/frame_' || i || '.png';
ALTER TABLE longer DROP COLUMN i;
INSERT INTO frame SELECT * FROM longer;
DROP TABLE longer;
UPDATE job SET frame_end = $frames, frame_count = $frames, frames_completed = $frames, artifact_removed_at = 0 WHERE job_id = '$job'`

// lengthen gives a job of a store that is not open more frames.
func lengthen(ctx context.Context, config app.Config, n, frames int) (err error) {
	plain, err := rounds.OpenPlain(ctx, "sqlite", config.DatabaseURL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	fill := strings.NewReplacer("$job", numbered(id.Job, n), "$frames", fmt.Sprint(frames))
	for _, statement := range strings.Split(fill.Replace(longRows), ";\n") {
		if _, err := plain.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return nil
}

// long measures the page of the long job, compared with that of the short one.
func (c *console) long(ctx context.Context, b *rounds.Run, r rounds.Record) error {
	long, short := "/console/jobs/"+numbered(id.Job, longJob), "/console/jobs/"+numbered(id.Job, shortJob)
	var ours, theirs float64
	err := b.Turns(func() (err error) {
		ours, err = c.read(ctx, long)
		return err
	}, func() (err error) {
		theirs, err = c.read(ctx, short)
		return err
	})
	if err != nil {
		return err
	}
	r.Add(rowConsoleLong, ours, theirs)
	if ours, err = c.weigh(ctx, long); err != nil {
		return err
	}
	if theirs, err = c.weigh(ctx, short); err == nil {
		r.Add(rowConsoleBytes, ours, theirs)
	}
	return err
}

// named finds what a page and its styles load.
var named = regexp.MustCompile(`(?:href="|src="|url\()((?:/assets/)?[a-z-]+\.[0-9a-f]{16}\.(?:css|js|svg|woff2))`)

// weigh returns how many bytes a browser loads for a page, without pictures. A page that does not
// show its frames is an error.
func (c *console) weigh(ctx context.Context, path string) (bytes float64, err error) {
	left, seen := []string{path}, map[string]bool{}
	for len(left) > 0 {
		next := left[0]
		left = left[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		text, n, err := c.zipped(ctx, next)
		if err != nil {
			return 0, err
		}
		bytes += float64(n)
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			left = append(left, "/assets/"+strings.TrimPrefix(found[1], "/assets/"))
		}
		if next == path && strings.Count(text, "/small?v=") < shortFrames {
			return 0, fmt.Errorf("%s shows no frames", path)
		}
	}
	if len(seen) < 5 {
		return 0, fmt.Errorf("%s loads only %d files", path, len(seen))
	}
	return bytes, nil
}

// zipped gets a file as browsers do, and returns its text and the bytes on the wire.
func (c *console) zipped(ctx context.Context, path string) (text string, size int64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return "", 0, err
	}
	r.AddCookie(c.session)
	r.Header.Set("Accept-Encoding", "gzip") // the client then leaves the body as it is
	r.Header.Set("Sec-Fetch-Site", "none")  // private pages are compressed for nobody else
	answer, err := c.client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return "", 0, fmt.Errorf("%s is answered with %s", path, answer.Status)
	}
	count := &counted{from: answer.Body}
	var body io.Reader = count
	if answer.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(count); err != nil {
			return "", 0, err
		}
	}
	content, err := io.ReadAll(body)
	return string(content), count.n, err
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
