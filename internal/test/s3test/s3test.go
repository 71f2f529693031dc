// Package s3test gives tests a real S3 server, that of scripts/with-s3: a bucket of their
// own, and a place between a service and the server where requests can be lost. Start
// reading at Address.
package s3test

import (
	"context"
	"crypto/rand"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Address returns the address of blobs, as svc serve --blobs takes it, in a bucket that is
// the test's own and goes with it.
func Address(t testing.TB) string {
	t.Helper()
	return AddressAt(t, server(t))
}

// AddressAt is Address, with an endpoint that leads to the server of the tests.
func AddressAt(t testing.TB, endpoint string) string {
	t.Helper()
	client, bucket := Client(t), "svc-"+strings.ToLower(rand.Text())
	if err := client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		for o := range client.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Recursive: true}) {
			if o.Err == nil {
				_ = client.RemoveObject(ctx, bucket, o.Key, minio.RemoveObjectOptions{}) // the server's folder goes with the run
			}
		}
		for u := range client.ListIncompleteUploads(ctx, bucket, "", true) {
			if u.Err == nil {
				_ = client.RemoveIncompleteUpload(ctx, bucket, u.Key)
			}
		}
		_ = client.RemoveBucket(ctx, bucket)
	})
	return "s3://" + bucket + "/svc?" + url.Values{"endpoint": {endpoint}, "region": {"us-east-1"}}.Encode()
}

// Client returns a client with the server's own key.
func Client(t testing.TB) *minio.Client {
	t.Helper()
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	client, err := minio.New(u.Host, &minio.Options{Creds: credentials.NewEnvAWS(), Secure: u.Scheme == "https", Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// server returns the endpoint of the server of the tests. No test is skipped without one.
func server(t testing.TB) string {
	t.Helper()
	endpoint := os.Getenv("SVC_TEST_S3")
	if endpoint == "" {
		t.Fatal("SVC_TEST_S3 is not set: run the tests with `make test`, or `scripts/with-s3 go test ./...`")
	}
	return endpoint
}

// Proxy starts a place between a service and the server, and returns its endpoint. It does
// with each request what wrap makes of passing it on.
func Proxy(t testing.TB, wrap func(pass http.Handler) http.Handler) (endpoint string) {
	t.Helper()
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{
		// The signature covers the host that the client has named: it stays.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = u.Scheme, u.Host, r.In.Host
		},
		ErrorLog: log.New(io.Discard, "", 0), // a test that cuts lines knows it
	}
	proxy := httptest.NewServer(wrap(pass))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
