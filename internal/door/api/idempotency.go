package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
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
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/intake"
)

// replayedHeader marks a response as the stored one (decisions 7).
const replayedHeader = "Idempotency-Replayed"

// heldRequest is a request that holds its Idempotency-Key. Its answer is stored
// in the transaction of its effect, and only then sent.
type heldRequest struct {
	hold *idempotency.Hold
	// status is that of every success of the operation.
	status int
	// body is the stored answer; nil until keep has run.
	body []byte
}

// heldRequestKey finds the heldRequest of a request in its context.
type heldRequestKey struct{}

// fingerprinter returns what makes two requests with the same key equal. It
// returns "" for a request without a key. If it reads the body it puts back
// what it has read.
type fingerprinter func(r *http.Request) (fingerprint string, err error)

// idempotent returns the middleware of decisions 7: repeating a request returns
// the first answer. The route's handler stores that answer, see keep. The
// middleware runs after the credential check, because keys count within a
// workspace.
//
// Errors: idempotency_key_reused, idempotency_in_progress, invalid_request, and
// those of the fingerprinter.
func (s *server) idempotent(of fingerprinter) operation.Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		key := r.Header.Get(operation.IdempotencyKey)
		// The fingerprinter reads the body before huma does, so the stall
		// timeout has to start here.
		if key != "" {
			s.setStallTimeout(r, w)
		}
		mark, err := of(r)
		if err == nil && len(key) > idempotency.MaxKey {
			err = fault.Field("header."+operation.IdempotencyKey, "has more than %d bytes", idempotency.MaxKey)
		} else if err == nil && !front.IsText(key) {
			err = fault.Field("header."+operation.IdempotencyKey, "is not valid UTF-8")
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

// answerPlace is the context that stored answers are sealed for. The value is
// part of what is stored and must not change.
const answerPlace = "idempotent answer"

// keep stores the answer of a request under its Idempotency-Key, in the
// transaction of the request's effect. A kill at any moment leaves both or
// neither: never a charged job whose repetition is charged again. Without a key
// it does nothing.
//
// Every route wrapped in idempotent calls keep, effect or keepAlone. A route
// that calls none of them fails each request with a key (see held), so a test
// notices.
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

// effect runs work in one transaction and stores its answer in the same one.
// work can run more than once, as db.DB.Write says; only the last run counts.
func effect[T any](ctx context.Context, s *server, work func(*db.Tx) (T, error)) (answer T, err error) {
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		if answer, err = work(tx); err != nil {
			return err
		}
		return s.keep(ctx, tx, answer)
	})
	return answer, err
}

// keepAlone stores the answer of a request that changes nothing, in a
// transaction of its own.
func (s *server) keepAlone(ctx context.Context, answer any) error {
	if ctx.Value(heldRequestKey{}) == nil {
		return nil
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error { return s.keep(ctx, tx, answer) })
}

// replay sends a stored answer again.
func (s *server) replay(ctx huma.Context, answer *idempotency.Answer) {
	body, err := s.Sealed.Open(string(answer.Body), answerPlace)
	if err != nil {
		operation.Fail(ctx, fmt.Errorf("open a kept answer: %w", err))
		return
	}
	ctx.SetHeader(replayedHeader, "true")
	write(ctx, answer.Status, body)
}

// held runs a request that holds its key. A success is sent with the stored
// bytes, so that a repetition gets the same ones. An error is sent as it is,
// and the key becomes free: the caller may correct the request and reuse the
// key.
//
// Release runs in any case. If the process dies first, the hold lapses within
// 10 seconds (decisions 7).
func (s *server) held(ctx huma.Context, k *heldRequest, next func(huma.Context)) {
	defer func() {
		if err := k.hold.Release(ctx.Context()); err != nil {
			s.Log.Error("an idempotency key stays held until it lapses", "err", err)
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

// write sends a JSON body.
func write(ctx huma.Context, status int, body []byte) {
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(status)
	_, _ = ctx.BodyWriter().Write(body) // a failed write means the caller is gone
}

// humaContext renames the embedded interface: embedded as Context it would hide
// the method of that name.
type humaContext = huma.Context

// bufferedContext is a context that holds back status and body, until it is
// known whether the answer was stored.
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

// byBody is the fingerprinter of JSON routes: path and body. Errors:
// invalid_request.
func byBody(r *http.Request) (string, error) { return byBodyOf(contract.MaxJSONBodyBytes)(r) }

// byBodyOf is byBody for routes whose bodies have at most so many bytes.
func byBodyOf(most int64) fingerprinter {
	return func(r *http.Request) (string, error) { return fingerprintOf(r, most) }
}

func fingerprintOf(r *http.Request, most int64) (string, error) {
	if r.Header.Get(operation.IdempotencyKey) == "" {
		return "", nil
	}
	// One byte more than a body may have: huma finds a longer one and refuses
	// it with its own code.
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return "", operation.Broken(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.New()
	sum.Write([]byte(r.URL.Path + "\n"))
	sum.Write(ordered(body))
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ordered returns JSON with its members in one order and without blanks: some libraries
// write the same request in another order each time. What is not JSON stays as it is.
func ordered(body []byte) []byte {
	var value any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // 1e3 is another request than 1000, and must not match it
	if d.Decode(&value) != nil || d.More() {
		return body
	}
	text, err := plainjson.Marshal(value)
	if err != nil {
		return body
	}
	return text
}

// byUploadHeaders is the fingerprinter of POST /renders: the nine headers of a
// form, or the body of its JSON form. The form itself is not read: its size and
// hash are part of the headers, and matches compares them later.
func byUploadHeaders(r *http.Request) (string, error) {
	g, err := readUploadHeaders(r)
	switch {
	case err != nil:
		return "", err
	case isJSON(r):
		return byBody(r)
	case g == nil:
		return "", nil
	}
	return r.Header.Get(fingerprintName), nil
}

// uploadKeyPrefix begins the key of POST /uploads; the file's SHA-256 follows
// (spec 4.4).
const uploadKeyPrefix = "upload-"

// byHashAndSettings is the fingerprinter of POST /uploads: the hash that the key contains, and
// the settings and reuse that come before the file, which make another quote of the same bytes. Errors:
// invalid_request.
func byHashAndSettings(r *http.Request) (string, error) {
	sum, err := byHash(r)
	if err != nil || sum == "" {
		return sum, err
	}
	chosen := peekSettings(r)
	if chosen == "" {
		return sum, nil
	}
	mark := sha256.Sum256([]byte(sum + "\n" + chosen))
	return hex.EncodeToString(mark[:]), nil
}

// peekSettings reads the settings and reuse of a form that come before its file, and puts back what it
// has read. A form that cannot be read has none: the handler says what is wrong with it.
func peekSettings(r *http.Request) string {
	var read bytes.Buffer
	body := r.Body
	form, err := intake.OpenForm(&http.Request{Header: r.Header, Body: io.NopCloser(io.LimitReader(io.TeeReader(body, &read), formSlack))})
	defer func() {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&read, body), body}
	}()
	var lines []string
	for err == nil {
		var part *multipart.Part
		if part, err = form.Next(); err != nil || part.FormName() == "file" {
			break
		}
		known := slices.ContainsFunc(new(settings.Settings).Fields(), func(f settings.Field) bool { return f.Name == part.FormName() })
		if !known && part.FormName() != reuseField {
			continue
		}
		value, _ := io.ReadAll(part)
		lines = append(lines, part.FormName()+"="+string(value))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// byHash is the hash that the key of POST /uploads contains. It is compared with the file's
// bytes after the upload. Errors: invalid_request.
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
