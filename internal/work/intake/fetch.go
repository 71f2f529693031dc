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
	"svc.example/internal/work/quote"
)

// FetchQueue is the queue of files to fetch. The subject is the upload's id.
const FetchQueue = "fetch"

// FetchLimits bound a fetch. The body has a byte more than an upload may have, so
// that a file that is too large is refused as every other one is.
func FetchLimits() outbound.Limits {
	return outbound.Limits{Timeout: 10 * time.Minute, Body: contract.MaxUploadBytes + 1}
}

// CheckSource refuses an address that will not be fetched; invalid_file_url.
func (in *Intake) CheckSource(ctx context.Context, source string) error {
	err := in.Guard.Check(ctx, source)
	if refused, ok := errors.AsType[*outbound.Refused](err); ok {
		return badSource(refused)
	}
	return err
}

func badSource(refused *outbound.Refused) error {
	return fault.New(fault.InvalidFileURL, "The file is not fetched from this address: %s.", refused.Reason)
}

// fetchTries is how often a fetch that died with its process is begun.
const fetchTries = 3

// Fetch fetches the file of an awaited upload. It is the work of a lease of
// FetchQueue: cut off by a crash it begins anew, and whatever comes of it is
// written together with the lease's end.
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
	if l.Failures >= fetchTries {
		return in.noteRefused(ctx, row.UploadID, notFetched("The file could not be fetched in %d tries.", fetchTries), &ref)
	}
	err = in.fetch(ctx, row, ref)
	if _, refused := errors.AsType[*fault.Error](err); refused && ctx.Err() == nil {
		return in.noteRefused(ctx, row.UploadID, err, &ref)
	}
	return err
}

func (in *Intake) fetch(ctx context.Context, row query.AwaitedUpload, ref lease.Ref) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, row.Source, nil)
	if err != nil {
		return fault.New(fault.InvalidFileURL, "The address cannot be asked.").Wrap(err)
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
		return notFetched("The address answered with status %d.", res.StatusCode)
	}
	_, err = in.take(ctx, row, sourceName(r.URL, res.Header), cutBody{res.Body}, func(tx *db.Tx, _ quote.Quote) error {
		return lease.Finish(ctx, tx, ref)
	})
	return err
}

func notFetched(format string, args ...any) *fault.Error {
	return fault.New(fault.FileNotFetched, format, args...)
}

// cutBody tells a body that breaks off in the words of a fetch.
type cutBody struct{ io.Reader }

func (c cutBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = notFetched("The answer of the address broke off.").Wrap(err)
	}
	return n, err
}

// sourceName is what a fetched file is called: as the answer says, else as the
// address ends, else by a name of ours.
func sourceName(from *url.URL, h http.Header) string {
	_, said, _ := mime.ParseMediaType(h.Get("Content-Disposition")) // one that is malformed says nothing
	for _, name := range []string{said["filename"], path.Base(from.Path)} {
		if _, err := CleanName(name); err == nil {
			return name
		}
	}
	return "fetched" + contract.InputExtension
}
