package blob

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/lifecycle"

	"svc.example/internal/ground/tracing"
)

// S3 is a Store in a bucket of an S3 service. Several processes on several machines may
// share it. A blob that is deleted while it is read ends what reads it, sooner or later,
// with ErrNotFound.
//
// That a committed blob is never written again rests on the service's conditional writes
// (If-None-Match): OpenS3 tries them, and refuses a service without.
type S3 struct {
	core           *minio.Core   // repeats no request: see asked
	composer       *minio.Core   // the same for what may take the store a minute
	lister         *minio.Core   // for what no caller waits for: it repeats requests itself
	signer         *minio.Client // makes links: for the address that clients use
	bucket, prefix string
	links          Links
}

// Links says which callers get links to the store itself instead of bytes through this
// process.
type Links string

// Values of Links.
const (
	LinksAll     Links = "all"     // callers and workers
	LinksWorkers Links = "workers" // workers only
	LinksNone    Links = "none"    // no caller: only this process reaches the store
)

// unfinishedLife is how long an unfinished upload may take before it is taken for one whose
// process died.
const unfinishedLife = 24 * time.Hour

// S3Address is where blobs lie in an S3 service.
type S3Address struct {
	Bucket, Prefix string   // the prefix is "" or ends with a slash
	Endpoint       *url.URL // of the service, without the bucket
	Public         *url.URL // the endpoint as clients reach it
	Region         string   // "" asks the service
	Links          Links
	Silence        time.Duration // how long it may send and take nothing, see asked
}

// Within begins the prefix of stores that are nested in this one. They are not listed
// with this store: each is listed separately.
const Within = "test-mode/"

// ParseS3 reads s3://BUCKET/PREFIX?endpoint=URL&region=NAME&public=URL&links=all|workers|none&silence=10s.
// Without an endpoint it is Amazon's; without public, the endpoint; links are for all.
func ParseS3(address string) (a S3Address, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" {
		return a, fmt.Errorf("blobs: %q is not s3://BUCKET/PREFIX", address)
	}
	a = S3Address{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Links: LinksAll, Silence: defaultSilence}
	if a.Prefix != "" {
		if !keyForm.MatchString(a.Prefix) {
			return a, fmt.Errorf("blobs: the prefix %q is not words of letters, digits, dots, dashes and underscores with slashes between", a.Prefix)
		}
		a.Prefix += "/"
	}
	endpoint, public := "https://s3.amazonaws.com", ""
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; name {
		case "endpoint":
			endpoint = value
		case "public":
			public = value
		case "region":
			a.Region = value
		case "links":
			a.Links = Links(value)
		case "silence":
			if a.Silence, err = time.ParseDuration(value); err != nil || a.Silence < time.Second || a.Silence > composeSilence {
				return a, fmt.Errorf("blobs: silence is %q, not a time from 1s to 1m, such as 10s", value)
			}
		default:
			return a, fmt.Errorf("blobs: nobody knows %q in the address; it may have endpoint, public, region, links and silence", name)
		}
	}
	if a.Links != LinksAll && a.Links != LinksWorkers && a.Links != LinksNone {
		return a, fmt.Errorf("blobs: links is %q, not all, workers or none", a.Links)
	}
	if a.Endpoint, err = parseEndpoint(endpoint); err != nil {
		return a, err
	}
	a.Public, err = parseEndpoint(cmp.Or(public, endpoint))
	return a, err
}

func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("blobs: the endpoint %q is not https://HOST", text)
	}
	return u, nil
}

// OpenS3 opens the blobs at an address, of the form that ParseS3 reads. It checks that the
// service does what a Store promises, and asks it to clear unfinished uploads. It also
// clears those older than a day itself. Credentials come from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, the file of shared credentials, or the machine's role. The warning
// says what the service refuses; "" means nothing.
func OpenS3(ctx context.Context, address string, now time.Time) (s *S3, warning string, err error) {
	if s, err = ReadS3(ctx, address); err != nil {
		return nil, "", err
	}
	if err := s.try(ctx); err != nil {
		return nil, "", err
	}
	if err := s.askToClear(ctx); err != nil {
		warning = fmt.Sprintf("the store does not clear unfinished uploads automatically, so svc does it at each start: %v", err)
	}
	return s, warning, s.clear(ctx, now)
}

// ReadS3 is OpenS3 without a trial and without writing anything.
func ReadS3(ctx context.Context, address string) (*S3, error) {
	a, err := ParseS3(address)
	if err != nil {
		return nil, err
	}
	s, err := clients(a, (&net.Dialer{Timeout: 5 * time.Second}).DialContext)
	if err != nil {
		return nil, fmt.Errorf("open the blobs: %w", err)
	}
	there, err := s.lister.BucketExists(ctx, s.bucket)
	if err != nil {
		return nil, fmt.Errorf("open the blobs: ask %s for the bucket %s: %w", a.Endpoint.Host, s.bucket, err)
	}
	if !there {
		return nil, fmt.Errorf("open the blobs: %s has no bucket %s: create it, or correct --blobs", a.Endpoint.Host, s.bucket)
	}
	return s, nil
}

// clients makes what asks the store at an address, whose connections dial opens.
func clients(a S3Address, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*S3, error) {
	client := func(endpoint *url.URL, silence time.Duration, tries int) (*minio.Core, error) {
		return minio.NewCore(endpoint.Host, &minio.Options{
			Creds: credentials.NewChainCredentials([]credentials.Provider{
				&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}},
			}),
			Secure: endpoint.Scheme == "https", Region: cmp.Or(a.Region, os.Getenv("AWS_REGION")),
			Transport: tracing.Transport(transport(silence, dial), "s3", false), MaxRetries: tries,
		})
	}
	core, err := client(a.Endpoint, a.Silence, 1)
	composer, composes := client(a.Endpoint, composeSilence, 1)
	lister, lists := client(a.Endpoint, composeSilence, tries)
	signer, signs := client(a.Public, a.Silence, 1)
	if err := errors.Join(err, composes, lists, signs); err != nil {
		return nil, err
	}
	return &S3{core: core, composer: composer, lister: lister, signer: signer.Client, bucket: a.Bucket, prefix: a.Prefix, links: a.Links}, nil
}

// object is the name in the bucket of the blob of a key; an error for a malformed key.
func (s *S3) object(key string) (string, error) {
	if !keyForm.MatchString(key) {
		return "", fmt.Errorf("blob key %q is malformed", key)
	}
	return s.prefix + key, nil
}

// try writes an object twice where no blob can lie. The second write must be refused.
func (s *S3) try(ctx context.Context) (err error) {
	name := s.prefix + ".trial/" + rand.Text()
	defer func() {
		if gone := s.lister.RemoveObject(context.WithoutCancel(ctx), s.bucket, name, minio.RemoveObjectOptions{}); err == nil && gone != nil {
			err = fmt.Errorf("open the blobs: delete an object: %w", gone)
		}
	}()
	for i := range 2 {
		err := s.put(ctx, name, nil, minio.PutObjectOptions{})
		switch refused := isRefused(err); {
		case i == 0 && err != nil:
			return fmt.Errorf("open the blobs: write an object: %w", err)
		case i == 1 && err == nil:
			return errors.New("open the blobs: the store writes over an object in spite of If-None-Match: it cannot keep what was promised of stored files; use one with conditional writes")
		case i == 1 && !refused:
			return fmt.Errorf("open the blobs: write an object twice: %w", err)
		}
	}
	return nil
}

// put writes an object in one request, if there is none of its name. The request is signed
// with the hash of the bytes, so that the store refuses any others.
func (s *S3) put(ctx context.Context, object string, text []byte, o minio.PutObjectOptions) error {
	sum := sha256.Sum256(text)
	o.DisableContentSha256 = true // not a second time, in chunks
	return asked(ctx, 1, func() error {
		_, err := s.core.PutObject(ctx, s.bucket, object, bytes.NewReader(text), int64(len(text)), "", hex.EncodeToString(sum[:]), onlyNew(o))
		return err
	})
}

// onlyNew adds that no object may be there yet.
func onlyNew(o minio.PutObjectOptions) minio.PutObjectOptions {
	o.SetMatchETagExcept("*")
	return o
}

// isRefused reports whether a conditional write found an object.
func isRefused(err error) bool {
	return err != nil && minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed
}

// isMissing reports whether the error means that no such object or upload
// exists.
func isMissing(err error) bool {
	return err != nil && minio.ToErrorResponse(err).StatusCode == http.StatusNotFound
}

// ruleID names our rule among those of the bucket's operator.
const ruleID = "svc-unfinished"

// askToClear adds a rule for unfinished uploads to those that the bucket has.
func (s *S3) askToClear(ctx context.Context) error {
	rules, err := s.lister.GetBucketLifecycle(ctx, s.bucket)
	if isMissing(err) {
		rules, err = lifecycle.NewConfiguration(), nil
	}
	if err != nil {
		return err
	}
	id := strings.TrimSuffix(ruleID+"-"+strings.ReplaceAll(s.prefix, "/", "-"), "-")
	for _, r := range rules.Rules {
		if r.ID == id {
			return nil
		}
	}
	rules.Rules = append(rules.Rules, lifecycle.Rule{
		ID: id, Status: "Enabled", RuleFilter: lifecycle.Filter{Prefix: s.prefix},
		AbortIncompleteMultipartUpload: lifecycle.AbortIncompleteMultipartUpload{DaysAfterInitiation: 2},
	})
	return s.lister.SetBucketLifecycle(ctx, s.bucket, rules)
}

// clear aborts uploads that writers left unfinished more than a day before now.
func (s *S3) clear(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithCancel(ctx) // an early return ends the listing
	defer cancel()
	for u := range s.lister.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		if u.Err != nil {
			return fmt.Errorf("open the blobs: list unfinished uploads: %w", u.Err)
		}
		if now.Sub(u.Initiated) <= unfinishedLife {
			continue
		}
		if err := s.lister.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID); err != nil && !isMissing(err) {
			return fmt.Errorf("open the blobs: abort an unfinished upload: %w", err)
		}
	}
	return nil
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, key string) error {
	object, err := s.object(key)
	if err != nil {
		return err
	}
	err = asked(ctx, 1, func() error {
		return s.core.RemoveObject(ctx, s.bucket, object, minio.RemoveObjectOptions{})
	})
	if err != nil && !isMissing(err) {
		return fmt.Errorf("delete blob %s: %w", key, err)
	}
	return nil
}

// Bytes is what all blobs take together.
func (s *S3) Bytes(ctx context.Context) (total int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for o := range s.lister.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}) {
		if o.Err != nil {
			return 0, fmt.Errorf("measure the blobs: %w", o.Err)
		}
		total += o.Size
	}
	return total, ctx.Err()
}

// List implements Store.
func (s *S3) List(ctx context.Context, prefix string, visit func(string, time.Time) error) error {
	ctx, cancel := context.WithCancel(ctx) // visit's error ends the listing
	defer cancel()
	for o := range s.lister.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
		key, ours := strings.CutPrefix(o.Key, s.prefix)
		err := o.Err
		if err == nil && ours && keyForm.MatchString(key) && !strings.HasPrefix(key, Within) {
			err = visit(key, o.LastModified)
		}
		if err != nil {
			return fmt.Errorf("list blobs %s: %w", prefix, err)
		}
	}
	return ctx.Err()
}
