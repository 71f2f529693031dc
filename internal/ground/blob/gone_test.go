package blob_test

import (
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"svc.example/internal/ground/blob"
	"svc.example/internal/test/s3test"
)

// TestAStoreThatIsGoneHasLostNothing: a disk that is not mounted, or a bucket that is
// unreachable, never reports a blob as not found.
func TestAStoreThatIsGoneHasLostNothing(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, s blob.Store, away func() error) {
		t.Helper()
		if err := put(t, s, "frames/JOB-1/a", "a picture"); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, s, "frames/JOB-1/b"); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("a blob that never was: %v", err)
		}
		if err := away(); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, s, "frames/JOB-1/a"); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("a blob of a store that is gone: %v", err)
		}
	}
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		d, err := blob.OpenDisk(dir, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		check(t, d, func() error { return os.RemoveAll(dir) })
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		address := s3test.Address(t)
		bucket, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		s, client := openS3(t, address), s3test.Client(t)
		check(t, s, func() error {
			for o := range client.ListObjectsIter(t.Context(), bucket.Host, minio.ListObjectsOptions{Recursive: true}) {
				if err := errors.Join(o.Err, client.RemoveObject(t.Context(), bucket.Host, o.Key, minio.RemoveObjectOptions{})); err != nil {
					return err
				}
			}
			return client.RemoveBucket(t.Context(), bucket.Host)
		})
	})
}
