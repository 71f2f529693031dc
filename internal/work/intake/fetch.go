package intake

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/outbound"
)

// FetchQueue is the lease queue of files to fetch. The subject is the upload's id.
const FetchQueue = "fetch"

// fetchTimeout bounds a fetch as a whole.
const fetchTimeout = 10 * time.Minute

// FetchLimits bound a fetch: fetchTimeout and the size of an upload. The body may have
// one byte more, so that an oversized file gets the same error as an oversized upload.
func FetchLimits() outbound.Limits {
	return outbound.Limits{Timeout: fetchTimeout, Body: contract.MaxUploadBytes + 1}
}

// CheckSource refuses an address that the service does not fetch. It resolves the host
// name, so call it outside of any transaction. The connection checks again, because the
// name may resolve to another address by then. Error: invalid_file_url.
func (in *Intake) CheckSource(ctx context.Context, source string) error {
	err := in.Guard.Check(ctx, source)
	if refused, ok := errors.AsType[*outbound.Refused](err); ok {
		return badSource(refused)
	}
	return err
}

func badSource(refused *outbound.Refused) error {
	return fault.New(fault.InvalidFileURL, "The file cannot be fetched from this URL: %s.", refused.Reason)
}

// fetchLater is when a fetch is tried again whose workspace has its share in progress.
const fetchLater = 5 * time.Second

// fetchTries bounds how often a fetch is started again after its process died.
const fetchTries = 3

// Fetch handles a lease of FetchQueue. After a crash it starts over. Its result, a
// quote or a refusal, is stored in the transaction that ends the lease, so it is stored
// once.
//
// It returns nil for a file that was refused: that is a result, and a retry would get
// the same file. Other errors are the service's own, and the runner tries again.
func (in *Intake) Fetch(ctx context.Context, l lease.Lease) error {
	var row query.AwaitedUpload
	err := in.DB.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = awaited(ctx, tx, l.Subject)
		return err
	})
	if err != nil {
		return err
	}
	ref := l.Ref()
	// The process died, or stopped, in the middle of each try. A file that has this
	// effect must not come back for ever.
	if l.Failures >= fetchTries {
		return in.recordRefusal(ctx, row.UploadID, notFetched("The file could not be fetched in %d attempts.", fetchTries), &ref)
	}
	leave, ok := in.places().fetches.Try(row.WorkspaceID)
	if !ok {
		return in.DB.Write(ctx, func(tx *db.Tx) error {
			return lease.Reschedule(ctx, tx, ref, FetchQueue, tx.Time().Add(fetchLater))
		})
	}
	defer leave()
	err = in.fetch(ctx, row, ref)
	// A fetch that this process's stop has broken off is no refusal: another process
	// repeats it.
	if _, refused := errors.AsType[*fault.Error](err); refused && ctx.Err() == nil {
		return in.recordRefusal(ctx, row.UploadID, err, &ref)
	}
	return err
}

// fetch makes one request and receives its body. A fault.Error is final; any other
// error may pass.
func (in *Intake) fetch(ctx context.Context, row query.AwaitedUpload, ref lease.Ref) error {
	request, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(request, http.MethodGet, row.Source, nil)
	if err != nil {
		return fault.New(fault.InvalidFileURL, "The URL is not valid.").Wrap(err)
	}
	r.Header.Set("User-Agent", contract.Service)
	res, err := in.Fetcher.Do(r)
	if refused, ok := errors.AsType[*outbound.Refused](err); ok {
		return badSource(refused)
	}
	if err != nil {
		return notFetched("The address did not answer.").Wrap(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return notFetched("The URL answered with status %d.", res.StatusCode)
	}
	// Nobody's request waits for this one, so its workspace is charged here.
	account := in.Ledger.Account()
	ctx = account.With(ctx)
	defer func() { in.Ledger.Charge(account.Spent(row.WorkspaceID, time.Now(), 0)) }()
	end := &requestEnd{time.AfterFunc(fetchTimeout, cancel)}
	f := File{Name: sourceName(r.URL, res.Header), Body: WithPace(bodyErrors{res.Body}, end, 0), Announced: res.ContentLength}
	_, err = in.accept(ctx, row, f, func(tx *db.Tx, _ Inspection) error { return lease.Finish(ctx, tx, ref) })
	return err
}

// requestEnd is the Deadline of a request that this side has made: it cancels it.
type requestEnd struct{ cancel *time.Timer }

func (e *requestEnd) SetReadDeadline(t time.Time) error {
	if e.cancel.Stop(); !t.IsZero() {
		e.cancel.Reset(time.Until(t))
	}
	return nil
}

// notFetched is the error of an address that gave no file. It never contains the text
// of a network error, which could describe this side's network; Wrap keeps that for the
// log.
func notFetched(format string, args ...any) *fault.Error {
	return fault.New(fault.FileNotFetched, format, args...)
}

// bodyErrors turns a broken body into the error of a fetch: the caller's own
// connection did not break.
type bodyErrors struct{ io.ReadCloser }

func (c bodyErrors) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = notFetched("The download from the URL was interrupted.").Wrap(err)
	}
	return n, err
}

// sourceName chooses the name of a fetched file: from the answer's headers, otherwise
// from the address, otherwise a default. A name that CleanName refuses is passed
// over, so the name of a download page never makes a good file fail.
func sourceName(from *url.URL, h http.Header) string {
	_, params, _ := mime.ParseMediaType(h.Get("Content-Disposition")) // a malformed header counts as absent
	for _, name := range []string{params["filename"], path.Base(from.Path)} {
		if _, err := CleanName(name); err == nil {
			return name
		}
	}
	return "fetched" + contract.InputExtension
}
