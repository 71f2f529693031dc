package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/redact"
)

// Bounds of reading a ZIP in parts: blocks of a MiB make few requests of the many small
// reads of a ZIP's directory, and a handful are kept.
const (
	rangeBlock = 1 << 20 // bytes
	rangeKept  = 4
)

// ZIPParts reads parts of a completed job's ZIP without fetching the whole. What it
// returns is not verified: compare each frame with its SHA-256 in a verified receipt. It
// is safe for concurrent use.
type ZIPParts struct {
	Artifact *Artifact

	client *Client
	ctx    context.Context // of all reads; io.ReaderAt has no place for one
	jobID  string

	mu     sync.Mutex
	blocks map[int64][]byte
	order  []int64 // of use, the oldest first
}

// ZIPParts finds the ZIP of a completed job. Its reads end with ctx. Errors are those of
// [Client.Artifact].
func (c *Client) ZIPParts(ctx context.Context, jobID string) (*ZIPParts, error) {
	artifact, err := c.Artifact(ctx, jobID)
	if err != nil {
		return nil, err
	}
	return &ZIPParts{Artifact: artifact, client: c, ctx: ctx, jobID: jobID, blocks: map[int64][]byte{}}, nil
}

// ReadAt implements io.ReaderAt.
func (z *ZIPParts) ReadAt(p []byte, off int64) (n int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for n < len(p) {
		at := off + int64(n)
		if at >= z.Artifact.SizeBytes {
			return n, io.EOF
		}
		block, err := z.block(at / rangeBlock)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], block[at%rangeBlock:])
	}
	return n, nil
}

// block returns a block that is kept, or fetches it. The caller holds mu.
func (z *ZIPParts) block(number int64) ([]byte, error) {
	z.order = append(slices.DeleteFunc(z.order, func(n int64) bool { return n == number }), number)
	if block := z.blocks[number]; block != nil {
		return block, nil
	}
	var block []byte
	err := z.client.retry.run(z.ctx, true, func() (err error) {
		block, err = z.fetch(number)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ZIP of job %s: %w", z.jobID, z.client.linkError(z.Artifact.URL, err))
	}
	z.blocks[number] = block
	if len(z.order) > rangeKept {
		delete(z.blocks, z.order[0])
		z.order = z.order[1:]
	}
	return block, nil
}

// fetch is one try. The link is good for an hour, so a refusal gets a new one for the
// next try.
func (z *ZIPParts) fetch(number int64) ([]byte, error) {
	ctx, cancel := context.WithCancel(z.ctx)
	defer cancel()
	first := number * rangeBlock
	length := min(rangeBlock, z.Artifact.SizeBytes-first)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, z.Artifact.URL, nil)
	if err != nil {
		return nil, &unreadable{redact.URLs(err)}
	}
	req.Header.Set("Accept-Encoding", "identity") // the ranges are of the bytes as stored
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, first+length-1))
	res, err := z.client.send(req)
	if err != nil {
		return nil, err
	}
	body := watch(res.Body, cancel)
	defer body.Close()
	if res.StatusCode != http.StatusPartialContent {
		text, _ := io.ReadAll(io.LimitReader(body, 1<<16)) // the status alone says enough
		if res.StatusCode == http.StatusOK {
			return nil, &unreadable{fmt.Errorf("the server sends the whole file only")}
		}
		refusal := errorFrom(res, text, time.Now())
		if fresh, err := z.client.Artifact(ctx, z.jobID); err == nil && res.StatusCode == http.StatusUnauthorized && fresh.SHA256 == z.Artifact.SHA256 {
			z.Artifact = fresh
			return nil, fmt.Errorf("the link has ended: %s", refusal.Message) // passes: the next try has the new link
		}
		return nil, refusal
	}
	block := make([]byte, length)
	_, err = io.ReadFull(body, block)
	return block, err
}
