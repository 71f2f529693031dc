package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/cors"

	"svc.example/internal/ground/blob"
	"svc.example/internal/test/await"
	"svc.example/internal/test/s3test"
)

func TestAddressesOfBucketsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	a, err := blob.ParseS3("s3://farm/blobs/2026/?endpoint=http://10.0.0.7:9000&public=https://s3.example.com&region=eu-1&links=workers")
	if err != nil || a.Bucket != "farm" || a.Prefix != "blobs/2026/" || a.Endpoint.Host != "10.0.0.7:9000" || a.Public.Host != "s3.example.com" || a.Region != "eu-1" || a.Links != blob.LinksWorkers {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = blob.ParseS3("s3://farm")
	if err != nil || a.Prefix != "" || a.Endpoint.String() != "https://s3.amazonaws.com" || a.Public.String() != a.Endpoint.String() || a.Links != blob.LinksAll {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []string{
		"", "farm", "https://farm", "s3://", "s3:///x", "s3://user:password@farm", "s3://farm:9000", "s3://farm/../x", "s3://farm/a b", "s3://farm/x#y",
		"s3://farm?endpoint=10.0.0.7", "s3://farm?endpoint=ftp://x", "s3://farm?endpoint=https://x/path", "s3://farm?public=x", "s3://farm?links=some", "s3://farm?colour=red", "s3://%",
	} {
		if _, err := blob.ParseS3(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// loseFirst passes requests on, and drops the answer to the first that chosen picks.
func loseFirst(chosen func(*http.Request) bool) (wrap func(http.Handler) http.Handler, lost *atomic.Bool) {
	lost = new(atomic.Bool)
	return func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !chosen(r) || lost.Swap(true) {
				pass.ServeHTTP(w, r)
				return
			}
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})
	}, lost
}

func TestALostAnswerToACommitIsNoOtherBlob(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"in one request": []byte("small"), "in parts": large()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrap, lost := loseFirst(func(r *http.Request) bool {
				whole := r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/a") && r.URL.RawQuery == ""
				return whole || r.Method == http.MethodPost && r.URL.Query().Get("uploadId") != ""
			})
			s := openS3(t, s3test.AddressAt(t, s3test.Proxy(t, wrap)))
			if got, err := writeAgain(t, s, "a", text); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if !lost.Load() {
				t.Error("no answer was lost")
			}
			if err := put(t, s, "a", "another"); !errors.Is(err, blob.ErrExists) {
				t.Errorf("another writer: %v", err)
			}
		})
	}
}

func TestAStreamThatBreaksGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	var cut atomic.Int32
	s := openS3(t, s3test.AddressAt(t, s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/a") && cut.Add(1)%2 == 1 {
				w = &short{ResponseWriter: w, left: 700_000}
			}
			pass.ServeHTTP(w, r)
		})
	})))
	want := large()[:3<<20]
	if _, err := writeAgain(t, s, "a", want); err != nil {
		t.Fatal(err)
	}
	r := open(t, s, "a")
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	p := make([]byte, len(want))
	if n, err := r.ReadAt(p, 0); err != nil || !bytes.Equal(p, want) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if cut.Load() < 4 {
		t.Errorf("only %d requests", cut.Load())
	}
}

// short is a connection that breaks after some bytes.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(p []byte) (int, error) {
	if len(p) > s.left {
		_, _ = s.ResponseWriter.Write(p[:s.left])
		panic(http.ErrAbortHandler)
	}
	s.left -= len(p)
	return s.ResponseWriter.Write(p)
}

func TestAStoreThatWritesOverObjectsIsRefused(t *testing.T) {
	t.Parallel()
	client := s3test.Client(t)
	address := s3test.AddressAt(t, s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/.trial/") {
				bucket, object, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
				if err := client.RemoveObject(r.Context(), bucket, object, minio.RemoveObjectOptions{}); err != nil {
					t.Error(err)
				}
			}
			pass.ServeHTTP(w, r)
		})
	}))
	if _, _, err := blob.OpenS3(t.Context(), address, time.Now()); err == nil || !strings.Contains(err.Error(), "conditional writes") {
		t.Errorf("got %v", err)
	}
}

func TestABucketThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	address := strings.Replace(s3test.Address(t), "s3://svc-", "s3://not-", 1)
	if _, _, err := blob.OpenS3(t.Context(), address, time.Now()); err == nil || !strings.Contains(err.Error(), "no bucket not-") {
		t.Errorf("got %v", err)
	}
}

func TestUploadsThatStayUnfinishedAreCleared(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{}, 8)
	address := s3test.AddressAt(t, s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pass.ServeHTTP(w, r)
			if r.Method == http.MethodPut && r.URL.Query().Get("partNumber") != "" {
				sent <- struct{}{}
			}
		})
	}))
	s := openS3(t, address)
	w, err := s.Create(t.Context(), "a/b") // a process that dies here leaves it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := w.Write(large()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a part that arrives after the upload was cleared would bring it back
		<-sent
	}
	unfinished := func() (n int) {
		u, err := blob.ParseS3(address)
		if err != nil {
			t.Fatal(err)
		}
		for upload := range s3test.Client(t).ListIncompleteUploads(context.Background(), u.Bucket, u.Prefix, true) {
			if upload.Err != nil {
				t.Error(upload.Err)
			}
			n++
		}
		return n
	}
	if openS3(t, address); unfinished() != 1 {
		t.Errorf("%d unfinished: a fresh one may belong to a running process", unfinished())
	}
	if _, _, err := blob.OpenS3(t.Context(), address, time.Now().Add(25*time.Hour)); err != nil || unfinished() != 0 {
		t.Errorf("a day later: %d unfinished, %v", unfinished(), err)
	}
	if err := w.Commit(); err == nil {
		t.Error("what was cleared was committed")
	}
}

func TestAnAbortEndsTheUpload(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 1)
	s := openS3(t, s3test.AddressAt(t, s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pass.ServeHTTP(w, r)
			if r.Method == http.MethodDelete && r.URL.Query().Get("uploadId") != "" {
				ended <- struct{}{}
			}
		})
	})))
	w, err := s.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(large()); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	await.Next(t, ended, "the end of the upload")
}

func TestALinkReadsOneBlobForAWhile(t *testing.T) {
	t.Parallel()
	s := openS3(t, s3test.Address(t))
	if err := put(t, s, "artifacts/JOB-1.zip", "0123456789"); err != nil {
		t.Fatal(err)
	}
	link, err := s.GetLink(t.Context(), "artifacts/JOB-1.zip", blob.Served{Name: "frames.zip", Type: "application/zip"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rs, body := send(t, http.MethodGet, link, nil, map[string]string{"Range": "bytes=3-5"})
	if rs.StatusCode != http.StatusPartialContent || body != "345" || rs.Header.Get("Content-Disposition") != blob.Attachment("frames.zip") || rs.Header.Get("Content-Type") != "application/zip" {
		t.Errorf("%s, %q, %v", rs.Status, body, rs.Header)
	}
	if rs, body := send(t, http.MethodGet, strings.Replace(link, "JOB-1", "JOB-2", 1), nil, nil); rs.StatusCode != http.StatusForbidden {
		t.Errorf("another blob: %s %s", rs.Status, body)
	}
	if rs, _ := send(t, http.MethodDelete, link, nil, nil); rs.StatusCode != http.StatusForbidden {
		t.Errorf("a delete: %s", rs.Status)
	}
	short, err := s.GetLink(t.Context(), "artifacts/JOB-1.zip", blob.Served{}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the end of the link", func() bool {
		rs, _ := send(t, http.MethodGet, short, nil, nil)
		return rs.StatusCode == http.StatusForbidden
	})
}

func TestALinkWritesTheseBytesOnce(t *testing.T) {
	t.Parallel()
	s := openS3(t, s3test.Address(t))
	text := []byte("a frame")
	sum := sha256.Sum256(text)
	link, err := s.PutLink(t.Context(), "frames/JOB-1/a.png", int64(len(text)), hex.EncodeToString(sum[:]), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	without := func(name string) map[string]string {
		h := map[string]string{}
		for n, v := range link.Header {
			if n != name {
				h[n] = v
			}
		}
		return h
	}
	for name, try := range map[string]struct {
		text   string
		header map[string]string
	}{
		"a byte more":           {"a frame!", link.Header},
		"other bytes":           {"b frame", link.Header},
		"without the hash":      {"a frame", without("X-Amz-Checksum-Sha256")},
		"without the condition": {"a frame", without("If-None-Match")},
	} {
		if rs, _ := send(t, http.MethodPut, link.URL, []byte(try.text), try.header); rs.StatusCode < 400 {
			t.Errorf("%s: %s", name, rs.Status)
		}
	}
	for i, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		if rs, body := send(t, http.MethodPut, link.URL, text, link.Header); rs.StatusCode != want {
			t.Errorf("time %d: %s %s", i+1, rs.Status, body)
		}
	}
	if got, err := get(t, s, "frames/JOB-1/a.png"); err != nil || got != "a frame" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLinksLeadWhereClientsReachTheStore(t *testing.T) {
	t.Parallel()
	s := openS3(t, s3test.Address(t)+"&"+url.Values{"public": {"https://files.example.com"}, "links": {"workers"}}.Encode())
	link, err := s.GetLink(t.Context(), "a", blob.Served{}, time.Minute)
	if err != nil || !strings.HasPrefix(link, "https://files.example.com/") || s.Links() != blob.LinksWorkers {
		t.Errorf("%s, %v, for %s", link, err, s.Links())
	}
}

// TestTheDocumentedCORSRuleLetsBrowsersFollowLinks gives a bucket the rule of docs/configure.md
// and follows a link as a page of another origin does.
func TestTheDocumentedCORSRuleLetsBrowsersFollowLinks(t *testing.T) {
	t.Parallel()
	address := s3test.Address(t)
	s := openS3(t, address)
	if lacks, err := s.ForBrowsers(t.Context()); err != nil || lacks != "the bucket has no CORS rules" {
		t.Errorf("a new bucket: %q, %v", lacks, err)
	}
	page, err := os.ReadFile("../../../docs/configure.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented struct {
		CORSRules []struct{ AllowedOrigins, AllowedMethods, AllowedHeaders, ExposeHeaders []string }
	}
	_, text, _ := strings.Cut(string(page), "{\"CORSRules\"")
	text, _, _ = strings.Cut(text, "```")
	if err := json.Unmarshal([]byte("{\"CORSRules\""+text), &documented); err != nil || len(documented.CORSRules) != 1 {
		t.Fatalf("the rule of docs/configure.md: %+v, %v", documented, err)
	}
	r := documented.CORSRules[0]
	bucket, _, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	rule := cors.Rule{AllowedOrigin: r.AllowedOrigins, AllowedMethod: r.AllowedMethods, AllowedHeader: r.AllowedHeaders, ExposeHeader: r.ExposeHeaders}
	if err := s3test.Client(t).SetBucketCors(t.Context(), bucket, cors.NewConfig([]cors.Rule{rule})); err != nil {
		t.Fatal(err)
	}
	if lacks, err := s.ForBrowsers(t.Context()); err != nil || lacks != "" {
		t.Errorf("with the documented rule: %q, %v", lacks, err)
	}
	if err := put(t, s, "a", "0123456789"); err != nil {
		t.Fatal(err)
	}
	link, err := s.GetLink(t.Context(), "a", blob.Served{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rs, body := send(t, http.MethodGet, link, nil, map[string]string{"Origin": "https://page.example", "Range": "bytes=3-5"})
	if origin := rs.Header.Get("Access-Control-Allow-Origin"); body != "345" || origin != "*" && origin != "https://page.example" {
		t.Errorf("%s: %q for origin %q", rs.Status, body, origin)
	}
	for _, name := range r.ExposeHeaders {
		if shown := rs.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(strings.ToLower(shown), strings.ToLower(name)) {
			t.Errorf("a page reads %q, not %s", shown, name)
		}
	}
	if rs, _ := send(t, http.MethodOptions, link, nil, map[string]string{"Origin": "https://page.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"}); rs.StatusCode != http.StatusOK && rs.StatusCode != http.StatusNoContent {
		t.Errorf("the preflight: %s", rs.Status)
	}
}

// send sends a request as any client does.
func send(t *testing.T, method, link string, body []byte, header map[string]string) (*http.Response, string) {
	t.Helper()
	rq, err := http.NewRequestWithContext(t.Context(), method, link, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		rq.Header.Set(name, value)
	}
	rs, err := http.DefaultClient.Do(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rs.Body.Close() }()
	text, err := io.ReadAll(rs.Body)
	if err != nil {
		t.Fatal(fmt.Errorf("%s %s: %w", method, link, err))
	}
	return rs, string(text)
}

// TestAStoreInsideOfAnotherIsListedAlone: a service removes what it lists and does not know.
func TestAStoreInsideOfAnotherIsListedAlone(t *testing.T) {
	t.Parallel()
	address := s3test.Address(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path += "/" + blob.Within + "one"
	stores := map[string]*blob.S3{}
	for name, at := range map[string]string{"outer": address, "inner": u.String()} {
		s, _, err := blob.OpenS3(t.Context(), at, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		stores[name] = s
		w, err := s.Create(t.Context(), name+"/blob")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, name); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range stores {
		var keys []string
		err := s.List(t.Context(), "", func(key string, _ time.Time) error { keys = append(keys, key); return nil })
		if err != nil || len(keys) != 1 || keys[0] != name+"/blob" {
			t.Errorf("the %s store lists %v, %v", name, keys, err)
		}
	}
	if n, err := stores["inner"].Bytes(t.Context()); err != nil || n != int64(len("inner")) {
		t.Errorf("the inner store has %d bytes, %v", n, err)
	}
}
