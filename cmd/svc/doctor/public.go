package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
)

const (
	callTime        = 20 * time.Second    // of one call
	streamTime      = 12 * time.Second    // until the second line of an event stream, which is due after 5
	certificateLeft = 14 * 24 * time.Hour // less is too little to renew it in peace
	formBytes       = 1 << 20             // what a form adds to the largest file
	firstBytes      = 1 << 20             // what is read of an answer
)

// Address is where callers reach a service.
type Address struct {
	URL         string // the public one
	TrustedHops int    // what the service is told
	Key         string // agent or account key, to follow events with; "" without
	Client      *http.Client
}

// Public calls a service at its public address, as callers do, through all that lies between.
func Public(ctx context.Context, a Address) []Finding {
	const check = "public_address"
	a.URL = strings.TrimRight(a.URL, "/")
	answer, _, err := a.call(ctx, http.MethodGet, "/livez", nil)
	switch {
	case err != nil:
		return []Finding{wrong(check, "Correct --public-url, the name's record, or the proxy", "%s/livez cannot be reached: %v", a.URL, err)}
	case answer.StatusCode != http.StatusOK:
		return []Finding{wrong(check, "Have the proxy pass all paths to svc", "%s/livez answers %s", a.URL, answer.Status)}
	}
	found := []Finding{fine(check)}
	if answer.TLS != nil {
		found = append(found, certificate(answer.TLS.PeerCertificates[0].NotAfter, time.Now()))
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		found = append(found, clock("public_clock", "the one that answers", date, time.Now()))
	}
	return append(found, a.forwarded(ctx), a.body(ctx), a.metadata(ctx), a.events(ctx))
}

func certificate(ends, now time.Time) Finding {
	if ends.Sub(now) >= certificateLeft {
		return fine("certificate")
	}
	return wrong("certificate", "Renew it, and have the proxy read it again", "the certificate ends on %s", ends.UTC().Format(time.DateOnly))
}

// left is how many requests an address may still send at once, by the header of the rate limit.
var left = regexp.MustCompile(`;r=(\d+)`)

// forwarded spends requests of this address, and claims to be another one. The service counts by
// address, so whoever can invent one has a full budget again.
func (a Address) forwarded(ctx context.Context) Finding {
	const check, change = "forwarded_address", "Start svc serve with --trusted-hops N, the number of proxies in front of it"
	if a.TrustedHops == 0 && strings.HasPrefix(a.URL, "https:") {
		return wrong(check, change, "a proxy ends https for svc, and svc trusts none: all callers count as the proxy")
	}
	budget := func(claimed string) int {
		answer, _, err := a.call(ctx, http.MethodGet, "/v1/capabilities", func(r *http.Request) {
			if claimed != "" {
				r.Header.Set("X-Forwarded-For", claimed)
			}
		})
		if err != nil {
			return -1
		}
		if found := left.FindStringSubmatch(answer.Header.Get("RateLimit")); found != nil {
			n, _ := strconv.Atoi(found[1])
			return n
		}
		return -1
	}
	const spent = 4
	own := -1
	for range spent {
		own = budget("")
	}
	one, two := budget("192.0.2.1"), budget("192.0.2.2") // addresses for documents: nobody has them
	switch {
	case own < 0 || one < 0 || two < 0:
		return unchecked(check, "the service states no limit, or a proxy removes the header RateLimit")
	case one > own+1 && two > own+1: // one may have come back meanwhile
		return wrong(check, change, "a caller can invent an address with the header X-Forwarded-For: svc trusts more proxies than there are, or the proxy does not add to the header")
	}
	return fine(check)
}

// unsent is the body of a request that is not sent. It notes that it was asked for: then nobody on
// the way has refused its size.
type unsent struct{ asked atomic.Bool }

func (u *unsent) Read([]byte) (int, error) {
	u.asked.Store(true)
	return 0, io.ErrUnexpectedEOF
}

// body announces the largest upload and sends none of it.
func (a Address) body(ctx context.Context) Finding {
	const check = "body_limit"
	size := int64(contract.MaxUploadBytes + formBytes)
	change := fmt.Sprintf("Allow bodies of %d MiB. In nginx: client_max_body_size %[1]dm;", size>>20)
	var file unsent
	answer, _, err := a.call(ctx, http.MethodPost, "/node/v1/uploads/inspect", func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(&file), size
		r.Header.Set("Content-Type", "multipart/form-data; boundary=a")
		r.Header.Set("Expect", "100-continue")
	})
	switch {
	case file.asked.Load():
		return fine(check)
	case err != nil:
		return wrong(check, change, "an upload of %d MiB ends with: %v", size>>20, err)
	case answer.StatusCode == http.StatusRequestEntityTooLarge:
		return wrong(check, change, "uploads of %d MiB are refused", size>>20)
	}
	return fine(check)
}

// metadata reads what programs look for at fixed places.
func (a Address) metadata(ctx context.Context) Finding {
	const check = "metadata_paths"
	for _, path := range []string{links.IssuerPath, links.ResourcePath, links.ServerCardPath} {
		answer, body, err := a.call(ctx, http.MethodGet, path, nil)
		var said struct{ Issuer string }
		switch {
		case err != nil:
			return wrong(check, "Have the proxy pass "+path+" to svc", "%s: %v", path, err)
		case answer.StatusCode != http.StatusOK || json.Unmarshal(body, &said) != nil:
			return wrong(check, "Have the proxy pass /.well-known/ to svc, except /.well-known/acme-challenge/", "%s answers %s, and not svc's JSON", path, answer.Status)
		case path == links.IssuerPath && said.Issuer != a.URL:
			return wrong(check, "Start svc serve with --public-url "+a.URL, "the service says that its address is %s", said.Issuer)
		}
	}
	return fine(check)
}

// events follows the workspace of the key. The service begins each stream at once, and sends a
// line every 5 seconds: a proxy that buffers may let the first one pass with the header.
func (a Address) events(ctx context.Context) Finding {
	const check = "event_streams"
	path := "/v1/events"
	switch {
	case a.Key == "":
		return unchecked(check, "an event stream needs a key. Set SVC_KEY to one of any workspace")
	case strings.HasPrefix(a.Key, contract.AgentKeyPrefix):
		path = "/node/v1/events"
	}
	ctx, cancel := context.WithTimeout(ctx, streamTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
	if err != nil {
		return wrong(check, "Correct --public-url", "%v", err)
	}
	r.Header.Set("Authorization", "Bearer "+a.Key)
	const change = "Have the proxy buffer no answers. In nginx: proxy_buffering off;"
	answer, err := a.Client.Do(r)
	if err != nil {
		return wrong(check, change, "an event stream sent nothing within %s", streamTime)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return unchecked(check, "an event stream was answered "+answer.Status)
	}
	for range 2 {
		if _, err := answer.Body.Read(make([]byte, 1<<10)); err != nil {
			return wrong(check, change, "an event stream stalls: its second line did not arrive within %s", streamTime)
		}
	}
	return fine(check)
}

// call makes a request that set completes, and reads the start of its answer.
func (a Address) call(ctx context.Context, method, path string, set func(*http.Request)) (answer *http.Response, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, a.URL+path, nil)
	if err != nil {
		return nil, nil, err
	}
	if set != nil {
		set(r)
	}
	if answer, err = a.Client.Do(r); err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(answer.Body, firstBytes))
	return answer, body, err
}
