package story_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"svc.example/internal/ground/blob"
	"svc.example/internal/test/s3test"
)

// Stories look into the files of a service, and change them behind its back, whether they
// lie in its data folder or in an S3 store.

// files lists the keys that begin with prefix.
func (svc *service) files(prefix string) (keys []string) {
	svc.t.Helper()
	err := svc.app.Blobs.List(context.Background(), prefix, func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		svc.t.Fatal(err)
	}
	return keys
}

// stored is files where there must be some.
func (svc *service) stored(prefix string) []string {
	svc.t.Helper()
	keys := svc.files(prefix)
	if len(keys) == 0 {
		svc.t.Fatalf("the store has nothing under %s", prefix)
	}
	return keys
}

// content reads a file.
func (svc *service) content(key string) []byte {
	svc.t.Helper()
	file, err := svc.app.Blobs.Open(context.Background(), key)
	if err != nil {
		svc.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		svc.t.Fatal(err)
	}
	return content
}

// remove deletes a file.
func (svc *service) remove(key string) {
	svc.t.Helper()
	if err := svc.app.Blobs.Delete(context.Background(), key); err != nil {
		svc.t.Fatal(err)
	}
}

// overwrite does what the service never does: it writes over a file.
func (svc *service) overwrite(key string, content []byte) {
	svc.t.Helper()
	if err := overwrite(svc.t, svc.config.Data, svc.config.Blobs, key, content); err != nil {
		svc.t.Fatal(err)
	}
}

func overwrite(t testing.TB, data, address, key string, content []byte) error {
	if address == "" {
		path := filepath.Join(data, "blobs", filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o600)
	}
	at, err := blob.ParseS3(address)
	if err != nil {
		return err
	}
	_, err = s3test.Client(t).PutObject(context.Background(), at.Bucket, at.Prefix+key, bytes.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
	return err
}

// lose damages files of the store: one loses a bit, or is gone.
var lose = map[string]func(svc *service, key string){
	"a bit is lost": func(svc *service, key string) {
		content := svc.content(key)
		content[len(content)/2] ^= 1
		svc.overwrite(key, content)
	},
	"the file is gone": (*service).remove,
}
