package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
)

// replayedHeader tells that an answer is the stored one.
const replayedHeader = "Idempotency-Replayed"

// heldRequest is the answer of a request that holds its Idempotency-Key: kept in the
// transaction of the request's effect, then heard by the caller.
type heldRequest struct {
	hold   *idempotency.Hold
	status int    // of every success of the operation
	body   []byte // nil until keep
}

// heldRequestKey finds the heldRequest of a request in its context.
type heldRequestKey struct{}

// keyed says what an Idempotency-Key of a request stands for; the fingerprint is
// "" when the request came without a key. What it has read of the body it puts
// back.
type fingerprinter func(r *http.Request) (fingerprint string, err error)

// once answers a repeated request with the first one's answer, which the route's
// handler keeps: see keep. It runs behind the credential's check: keys belong to a
// workspace.
func (s *server) idempotent(of fingerprinter) operation.Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		key := r.Header.Get(operation.IdempotencyKey)
		if key != "" {
			s.setStallTimeout(r, w)
		}
		mark, err := of(r)
		if err == nil && len(key) > idempotency.MaxKey {
			err = fault.Field("header."+operation.IdempotencyKey, "has more than %d bytes", idempotency.MaxKey)
		} else if err == nil && !front.IsText(key) {
			err = fault.Field("header."+operation.IdempotencyKey, "is not text in UTF-8")
		}
		if err != nil {
			operation.Fail(ctx, err)
			return
		}
		if mark == "" {
			next(ctx)
			return
		}
		hold, answer, err := idempotency.Begin(r.Context(), s.DB, idempotency.Request{
			WorkspaceID: operation.Caller(ctx.Context()).WorkspaceID, Route: ctx.Operation().OperationID,
			Key: key, Fingerprint: mark,
		})
		switch {
		case err != nil:
			operation.Fail(ctx, err)
		case answer != nil:
			s.replay(ctx, answer)
		default:
			s.held(ctx, &heldRequest{hold: hold, status: ctx.Operation().DefaultStatus}, next)
		}
	}
}

// answerPlace is what kept answers are sealed for: one may show a webhook's
// secret.
const answerPlace = "idempotent answer"

// keep keeps the answer of a request under its Idempotency-Key, if it has one, in the
// transaction of the request's effect: of the two there is never one alone, wherever
// the process is killed. Every route behind once calls it, or effect, or keepAlone.
func (s *server) keep(ctx context.Context, tx *db.Tx, answer any) error {
	k, _ := ctx.Value(heldRequestKey{}).(*heldRequest)
	if k == nil {
		return nil
	}
	var body bytes.Buffer
	if err := operation.Marshal(&body, answer); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	k.body = body.Bytes()
	return k.hold.Finish(ctx, tx, idempotency.Answer{Status: k.status, Body: []byte(s.Sealed.Seal(k.body, answerPlace))})
}

// effect runs work in one transaction and keeps its answer there.
func effect[T any](ctx context.Context, s *server, work func(*db.Tx) (T, error)) (answer T, err error) {
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		if answer, err = work(tx); err != nil {
			return err
		}
		return s.keep(ctx, tx, answer)
	})
	return answer, err
}

// keepAlone keeps the answer of a request that changes nothing.
func (s *server) keepAlone(ctx context.Context, answer any) error {
	if ctx.Value(heldRequestKey{}) == nil {
		return nil
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error { return s.keep(ctx, tx, answer) })
}

// replay gives a kept answer again.
func (s *server) replay(ctx huma.Context, answer *idempotency.Answer) {
	body, err := s.Sealed.Open(string(answer.Body), answerPlace)
	if err != nil {
		operation.Fail(ctx, fmt.Errorf("open a kept answer: %w", err))
		return
	}
	ctx.SetHeader(replayedHeader, "true")
	write(ctx, answer.Status, body)
}

// held runs a request that has its key. A success is heard as it was kept, so a
// repeated request hears the same bytes; a route that kept none has none.
func (s *server) held(ctx huma.Context, k *heldRequest, next func(huma.Context)) {
	defer func() {
		if err := k.hold.Release(ctx.Context()); err != nil {
			s.Log.Error("an idempotency key stays held until it lapses", "error", err)
		}
	}()
	seen := &bufferedContext{humaContext: huma.WithValue(ctx, heldRequestKey{}, k)}
	next(seen)
	switch {
	case seen.status >= http.StatusMultipleChoices:
		write(ctx, seen.status, seen.body.Bytes())
	case k.body == nil:
		operation.Fail(ctx, fmt.Errorf("%s kept no answer for its Idempotency-Key", ctx.Operation().OperationID))
	default:
		write(ctx, k.status, k.body)
	}
}

func write(ctx huma.Context, status int, body []byte) {
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(status)
	_, _ = ctx.BodyWriter().Write(body) // a failed write means the caller is gone
}

// humaContext names the embedded interface: as Context it would hide the method.
type humaContext = huma.Context

// bufferedContext is a context whose status and body are held back.
type bufferedContext struct {
	humaContext
	status int
	body   bytes.Buffer
}

// Unwrap lets humago reach the request.
func (c *bufferedContext) Unwrap() huma.Context  { return c.humaContext }
func (c *bufferedContext) SetStatus(status int)  { c.status = status }
func (c *bufferedContext) Status() int           { return c.status }
func (c *bufferedContext) BodyWriter() io.Writer { return &c.body }

// byBody tells requests apart by path and body: for JSON routes.
func byBody(r *http.Request) (string, error) {
	if r.Header.Get(operation.IdempotencyKey) == "" {
		return "", nil
	}
	// One byte more than a body may have: that it is too large is found behind.
	body, err := io.ReadAll(io.LimitReader(r.Body, contract.MaxJSONBodyBytes+1))
	if err != nil {
		return "", fault.New(fault.InvalidRequest, "The body breaks off.").Wrap(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.New()
	sum.Write([]byte(r.URL.Path + "\n"))
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// byUploadHeaders tells uploads of the older flow apart by the header group, and their
// JSON form by its body.
func byUploadHeaders(r *http.Request) (string, error) {
	if isJSON(r) {
		return byBody(r)
	}
	g, err := readUploadHeaders(r.Header)
	if g == nil || err != nil {
		return "", err
	}
	return r.Header.Get(fingerprintName), nil
}

// uploadKeyPrefix begins the key of POST /uploads; the file's hash follows (spec
// 4.4).
const uploadKeyPrefix = "upload-"

// byHash tells uploads apart by the hash that their key carries.
func byHash(r *http.Request) (string, error) {
	key := r.Header.Get(operation.IdempotencyKey)
	if key == "" {
		return "", nil
	}
	sum, found := strings.CutPrefix(key, uploadKeyPrefix)
	if !found || !digest.Is(sum) {
		return "", fault.Field("header."+operation.IdempotencyKey, "must be %s and the file's SHA-256 in lower-case hex", uploadKeyPrefix)
	}
	return sum, nil
}
