package blob

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are pipes, so that a test's clock rules them.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.ended); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// storeOf is a store whose server is serve.
func storeOf(t *testing.T, serve http.HandlerFunc) *S3 {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), ended: make(chan struct{})}
	ctx, end := context.WithCancel(t.Context())
	server := &http.Server{Handler: serve, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = server.Serve(p) }()
	t.Cleanup(func() {
		end()
		_ = server.Close()
		<-time.After(time.Second) // connections end after a moment
	})
	s, err := clients(S3Address{
		Bucket: "farm", Endpoint: &url.URL{Scheme: "http", Host: "s3"}, Public: &url.URL{Scheme: "http", Host: "s3"}, Region: "us-east-1", Silence: defaultSilence,
	}, p.dial)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parts answers as a store does that takes everything.
func parts(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("ETag", `"1"`)
	switch {
	case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
		_, _ = io.WriteString(w, `<InitiateMultipartUploadResult><Bucket>farm</Bucket><Key>a</Key><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPost:
		_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><Bucket>farm</Bucket><Key>a</Key><ETag>"1"</ETag></CompleteMultipartUploadResult>`)
	}
}

// head begins the answer that has so many bytes of a blob.
func head(w http.ResponseWriter, size int) {
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("Last-Modified", "Sat, 28 Nov 2026 12:00:00 GMT")
	w.Header().Set("Content-Length", strconv.Itoa(size))
}

func write(ctx context.Context, s *S3, size int) error {
	w, err := s.Create(ctx, "a")
	if err != nil {
		return err
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

func read(ctx context.Context, s *S3) error {
	r, err := s.Open(ctx, "a")
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	_ = r.Close()
	return err
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// TestASilentStoreHoldsNobodyLongerThanTwoSilences has stores that become silent at each
// point where a caller waits for them.
func TestASilentStoreHoldsNobodyLongerThanTwoSilences(t *testing.T) {
	t.Parallel()
	const small, large = 100, 3*partSize + 1
	unread := func(_ http.ResponseWriter, r *http.Request) { // takes a little of a body, and no more
		_, _ = io.CopyN(io.Discard, r.Body, 1000)
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		do    func(context.Context, *S3) error
		most  time.Duration
	}{
		"a small file": {silent, func(ctx context.Context, s *S3) error { return write(ctx, s, small) }, 21 * time.Second},
		"a large file": {silent, func(ctx context.Context, s *S3) error { return write(ctx, s, large) }, 21 * time.Second},
		"a part that is not read": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				unread(w, r)
			}
			parts(w, r)
		}, func(ctx context.Context, s *S3) error { return write(ctx, s, large) }, 21 * time.Second},
		"a part without an answer": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				_, _ = io.Copy(io.Discard, r.Body)
				silent(w, r)
			}
			parts(w, r)
		}, func(ctx context.Context, s *S3) error { return write(ctx, s, large) }, 21 * time.Second},
		"parts that are put together": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("uploadId") && r.Method == http.MethodPost {
				silent(w, r)
			}
			parts(w, r)
		}, func(ctx context.Context, s *S3) error { return write(ctx, s, large) }, 61 * time.Second},
		"a copy":     {silent, func(ctx context.Context, s *S3) error { return s.Take(ctx, "b", "a") }, 61 * time.Second},
		"a deletion": {silent, func(ctx context.Context, s *S3) error { return s.Delete(ctx, "a") }, 21 * time.Second},
		"a download": {silent, read, 21 * time.Second},
		"a download in the middle": {func(w http.ResponseWriter, r *http.Request) {
			head(w, 1000)
			if r.Method == http.MethodGet {
				if r.Header.Get("Range") == "bytes=0-999" {
					_, _ = w.Write(make([]byte, 500))
					_ = http.NewResponseController(w).Flush()
				}
				silent(w, r)
			}
		}, read, 21 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, began := storeOf(t, c.serve), time.Now()
				err := c.do(t.Context(), s)
				if took := time.Since(began); took > c.most {
					t.Errorf("it took %s, more than %s", took, c.most)
				}
				<-time.After(abortTime) // what is left of it is given up
				if !IsAway(err) {
					t.Errorf("%v does not say that the store is away", err)
				}
			})
		})
	}
}

// TestAStoreThatIsSlowButNotSilentIsWaitedFor has each part and each answer take much longer
// than a silence.
func TestAStoreThatIsSlowButNotSilentIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		const almost = defaultSilence - time.Second
		text := bytes.Repeat([]byte("abcdefgh"), partSize/4+1)
		s := storeOf(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			switch {
			case r.Method == http.MethodPut:
				for err := error(nil); err == nil; {
					<-time.After(almost)
					_, err = io.CopyN(io.Discard, r.Body, partSize/8)
				}
				parts(w, r)
			case r.Method == http.MethodGet:
				head(w, 80)
				for range 10 {
					<-time.After(almost)
					_, _ = io.WriteString(w, strings.Repeat("x", 8))
					_ = http.NewResponseController(w).Flush()
				}
			case r.Method == http.MethodHead:
				head(w, 80)
			default:
				parts(w, r)
			}
		})
		if err := write(t.Context(), s, len(text)); err != nil {
			t.Error(err)
		}
		if err := read(t.Context(), s); err != nil {
			t.Error(err)
		}
		if n := asked.Load(); n != 7 { // begin, three parts, end; head and get
			t.Errorf("%d requests: some were repeated", n)
		}
	})
}
