package story

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/test/s3test"
)

// Stories look into the files of a service, and change them without its knowledge,
// whether they lie in its data folder or in an S3 store.

// Files lists the keys that begin with prefix.
func (svc *Service) Files(prefix string) (keys []string) {
	svc.T.Helper()
	err := svc.App.Blobs.List(context.Background(), prefix, func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		svc.T.Fatal(err)
	}
	return keys
}

// Stored is files where there must be some.
func (svc *Service) Stored(prefix string) []string {
	svc.T.Helper()
	keys := svc.Files(prefix)
	if len(keys) == 0 {
		svc.T.Fatalf("the store has nothing under %s", prefix)
	}
	return keys
}

// Content reads a file.
func (svc *Service) Content(key string) []byte {
	svc.T.Helper()
	file, err := svc.App.Blobs.Open(context.Background(), key)
	if err != nil {
		svc.T.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		svc.T.Fatal(err)
	}
	return content
}

// Remove deletes a file.
func (svc *Service) Remove(key string) {
	svc.T.Helper()
	if err := svc.App.Blobs.Delete(context.Background(), key); err != nil {
		svc.T.Fatal(err)
	}
}

// Overwrite does what the service never does: it writes over a file.
func (svc *Service) Overwrite(key string, content []byte) {
	svc.T.Helper()
	if err := overwrite(svc.T, svc.Config.Data, svc.Config.Blobs, key, content); err != nil {
		svc.T.Fatal(err)
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

// TurnBit turns one bit of a file where it lies. A file that is gone stays gone.
func TurnBit(t testing.TB, config app.Config, key string, offset int64, bit byte) error {
	if config.Blobs == "" {
		return turnBitOnDisk(filepath.Join(config.Data, "blobs", filepath.FromSlash(key)), offset, bit)
	}
	at, err := blob.ParseS3(config.Blobs)
	if err != nil {
		return err
	}
	ctx, client := context.Background(), s3test.Client(t)
	object, err := client.GetObject(ctx, at.Bucket, at.Prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	info, err := object.Stat()
	if storeRefused(err, http.StatusNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	content, err := io.ReadAll(object)
	if storeRefused(err, http.StatusNotFound, http.StatusPreconditionFailed) {
		return nil
	}
	if err != nil {
		return err
	}
	content[offset] ^= bit
	over := minio.PutObjectOptions{}
	over.SetMatchETag(info.ETag)
	_, err = client.PutObject(ctx, at.Bucket, at.Prefix+key, bytes.NewReader(content), int64(len(content)), over)
	if storeRefused(err, http.StatusNotFound, http.StatusPreconditionFailed) {
		return nil
	}
	return err
}

// storeRefused reports whether the S3 server refused with one of these status codes.
func storeRefused(err error, status ...int) bool {
	return err != nil && slices.Contains(status, minio.ToErrorResponse(err).StatusCode)
}

func turnBitOnDisk(path string, offset int64, bit byte) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	value := make([]byte, 1)
	_, err = file.ReadAt(value, offset)
	if err == nil {
		value[0] ^= bit
		_, err = file.WriteAt(value, offset)
	}
	return errors.Join(err, file.Close())
}

// Lose damages files of the store: one loses a bit, or is gone.
var Lose = map[string]func(svc *Service, key string){
	"a bit is lost": func(svc *Service, key string) {
		content := svc.Content(key)
		content[len(content)/2] ^= 1
		svc.Overwrite(key, content)
	},
	"the file is gone": (*Service).Remove,
}
