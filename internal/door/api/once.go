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
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/idempotency"
)

// replayedHeader tells that an answer is the stored one.
const replayedHeader = "Idempotency-Replayed"

// holdContext finds the hold of a request's Idempotency-Key in its context.
type holdContext struct{}

// heldOf is the hold of this request's key; nil when it has none.
func heldOf(ctx context.Context) *idempotency.Hold {
	h, _ := ctx.Value(holdContext{}).(*idempotency.Hold)
	return h
}

// keyed says what an Idempotency-Key of a request stands for; the fingerprint is
// "" when the request came without a key. What it has read of the body it puts
// back.
type keyed func(r *http.Request) (fingerprint string, err error)

// once answers a repeated request with the first one's answer. It runs behind
// the credential's check: keys belong to a workspace.
func (s *server) once(of keyed) operation.Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		key := r.Header.Get(operation.IdempotencyKey)
		if key != "" {
			s.bePatient(r, w)
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
			s.held(ctx, hold, next)
		}
	}
}

// answerPlace is what kept answers are sealed for: one may show a webhook's
// secret.
const answerPlace = "idempotent answer"

// finish keeps an answer under a request's key.
func (s *server) finish(ctx context.Context, tx *db.Tx, hold *idempotency.Hold, status int, body []byte) error {
	return hold.Finish(ctx, tx, idempotency.Answer{Status: status, Body: []byte(s.Sealed.Seal(body, answerPlace))})
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

// held runs a request that has its key, and keeps what it answers before the
// caller hears it.
func (s *server) held(ctx huma.Context, hold *idempotency.Hold, next func(huma.Context)) {
	defer func() {
		if err := hold.Release(ctx.Context()); err != nil {
			s.Log.Error("an idempotency key stays held until it lapses", "error", err)
		}
	}()
	seen := &recorded{humaContext: huma.WithValue(ctx, holdContext{}, hold)}
	next(seen)
	if seen.status < 300 && !hold.Finished() {
		err := s.DB.Write(ctx.Context(), func(tx *db.Tx) error {
			return s.finish(ctx.Context(), tx, hold, seen.status, seen.body.Bytes())
		})
		if err != nil {
			operation.Fail(ctx, err)
			return
		}
	}
	write(ctx, seen.status, seen.body.Bytes())
}

func write(ctx huma.Context, status int, body []byte) {
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(status)
	_, _ = ctx.BodyWriter().Write(body) // a failed write means the caller is gone
}

// humaContext names the embedded interface: as Context it would hide the method.
type humaContext = huma.Context

// recorded is a context whose status and body are held back.
type recorded struct {
	humaContext
	status int
	body   bytes.Buffer
}

// Unwrap lets humago reach the request.
func (c *recorded) Unwrap() huma.Context  { return c.humaContext }
func (c *recorded) SetStatus(status int)  { c.status = status }
func (c *recorded) Status() int           { return c.status }
func (c *recorded) BodyWriter() io.Writer { return &c.body }

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

// byGroup tells uploads of the older flow apart by the header group, and their
// JSON form by its body.
func byGroup(r *http.Request) (string, error) {
	if isJSON(r) {
		return byBody(r)
	}
	g, err := groupOf(r.Header)
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
	if !found || !hex64.MatchString(sum) {
		return "", fault.Field("header."+operation.IdempotencyKey, "must be %s and the file's SHA-256 in lower-case hex", uploadKeyPrefix)
	}
	return sum, nil
}
