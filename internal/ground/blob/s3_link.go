package blob

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/cors"
)

// Linker is a Store that others can access directly, with a link that is valid for one
// blob and a short time. The holder of a link needs no key to the store.
type Linker interface {
	Store
	// Links says which callers get links.
	Links() Links
	// GetLink makes the address of a blob, for GET with and without a range. The store
	// checks whether the blob exists only when the address is used.
	GetLink(ctx context.Context, key string, as Served, life time.Duration) (string, error)
	// PutLink makes a request that writes a blob: only of these bytes, only once.
	PutLink(ctx context.Context, key string, size int64, sha256 string, life time.Duration) (PutLink, error)
	// Take gives a blob that came by a link a key of its own, at which nothing may be yet,
	// and forgets the first. The bytes stay in the store. Error: ErrNotFound.
	Take(ctx context.Context, from, to string) error
}

// ToWorkers returns a store that gives links to workers, or nil.
func ToWorkers(s Store) Linker {
	if l, ok := s.(Linker); ok && l.Links() != LinksNone {
		return l
	}
	return nil
}

// ToCallers returns a store that gives links to callers, or nil.
func ToCallers(s Store) Linker {
	if l, ok := s.(Linker); ok && l.Links() == LinksAll {
		return l
	}
	return nil
}

// Served is what a client is told about a blob in addition to its bytes.
type Served struct {
	Name string // of the file to save it as; "" leaves it out
	Type string // media type; "" leaves it out
}

// PutLink is a PUT to be sent with all of its headers and the bytes that it was made for.
type PutLink struct {
	URL    string
	Header map[string]string
}

// Links implements Linker.
func (s *S3) Links() Links { return s.links }

// GetLink implements Linker.
func (s *S3) GetLink(ctx context.Context, key string, as Served, life time.Duration) (string, error) {
	object, err := s.object(key)
	if err != nil {
		return "", err
	}
	query := url.Values{}
	if as.Name != "" {
		query.Set("response-content-disposition", Attachment(as.Name))
	}
	if as.Type != "" {
		query.Set("response-content-type", as.Type)
	}
	u, err := s.signer.PresignedGetObject(ctx, s.bucket, object, life, query)
	if err != nil {
		return "", fmt.Errorf("make a link to blob %s: %w", key, err)
	}
	return u.String(), nil
}

// PutLink implements Linker. The signature covers the length, the hash and the condition
// that the object does not exist: the store refuses anything else.
func (s *S3) PutLink(ctx context.Context, key string, size int64, sha256 string, life time.Duration) (PutLink, error) {
	object, err := s.object(key)
	if err != nil {
		return PutLink{}, err
	}
	sum, err := hex.DecodeString(sha256)
	if err != nil {
		return PutLink{}, fmt.Errorf("make a link to blob %s: %w", key, err)
	}
	header := http.Header{}
	header.Set("If-None-Match", "*")
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum))
	u, err := s.signer.PresignHeader(ctx, http.MethodPut, s.bucket, object, life, nil, header)
	if err != nil {
		return PutLink{}, fmt.Errorf("make a link to blob %s: %w", key, err)
	}
	link := PutLink{URL: u.String(), Header: map[string]string{}}
	for name := range header {
		if name != "Content-Length" { // every client sets it from the body
			link.Header[name] = header.Get(name)
		}
	}
	return link, nil
}

// Take implements Linker. Several takes of one blob make several blobs.
func (s *S3) Take(ctx context.Context, from, to string) error {
	source, err := s.object(from)
	if err != nil {
		return err
	}
	target, err := s.object(to)
	if err != nil {
		return err
	}
	err = asked(ctx, 0, func() error {
		_, err := s.composer.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: s.bucket, Object: target}, minio.CopySrcOptions{Bucket: s.bucket, Object: source})
		return err
	})
	if err != nil {
		return fmt.Errorf("take blob %s: %w", from, s.readError(ctx, err))
	}
	return s.Delete(ctx, from)
}

var _ Linker = (*S3)(nil)

// exposed are the headers of a blob that a page's script needs to fetch it in parts.
var exposed = []string{"ETag", "Content-Range", "Accept-Ranges", "Content-Disposition"}

// ForBrowsers says what is missing in the bucket's CORS rules for pages of any origin to
// follow links to blobs. It returns "" when nothing is missing, or when callers get no
// links.
func (s *S3) ForBrowsers(ctx context.Context) (lacks string, err error) {
	if s.links != LinksAll {
		return "", nil
	}
	rules, err := s.lister.GetBucketCors(ctx, s.bucket)
	if err != nil && !isMissing(err) {
		return "", fmt.Errorf("read the CORS rules of bucket %s: %w", s.bucket, err)
	}
	if err != nil || rules == nil {
		return "the bucket has no CORS rules", nil
	}
	return lacksOf(rules.CORSRules), nil
}

// lacksOf says what is missing in CORS rules; "" when one of them has
// everything.
func lacksOf(rules []cors.Rule) (lacks string) {
	lacks = "no CORS rule of the bucket allows GET and HEAD from any origin"
	for _, r := range rules {
		if !slices.Contains(r.AllowedOrigin, "*") || !slices.Contains(r.AllowedMethod, http.MethodGet) || !slices.Contains(r.AllowedMethod, http.MethodHead) {
			continue
		}
		hidden := slices.DeleteFunc(slices.Clone(exposed), func(header string) bool {
			return slices.ContainsFunc(r.ExposeHeader, func(h string) bool { return strings.EqualFold(h, header) })
		})
		if len(hidden) == 0 {
			return ""
		}
		lacks = "the bucket's CORS rule does not expose " + strings.Join(hidden, ", ")
	}
	return lacks
}
