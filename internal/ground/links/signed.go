package links

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"svc.example/internal/ground/fault"
)

// What a signed address is for; one for one purpose is none for another.
const (
	download = "download"
	upload   = "upload"
	preview  = "preview"
	notices  = "notices"
)

// Download returns an address under which anyone can fetch a job's ZIP until
// expires, which counts in whole seconds. It cannot be revoked.
func (l Links) Download(jobID string, expires time.Time) string {
	return l.signed(download, DownloadPath, jobID, expires)
}

// Upload returns an address that takes the file of an awaited upload until expires,
// so that an agent can have a file sent without handing out its key.
func (l Links) Upload(uploadID string, expires time.Time) string {
	return l.signed(upload, UploadPath, uploadID, expires)
}

// CheckDownload verifies the parameters of a signed download address. Error:
// unauthenticated when it is forged, is for another job or has expired.
func (l Links) CheckDownload(jobID, expires, signature string, now time.Time) error {
	if wrong := l.check(download, jobID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The download link %s.", wrong).WithAction("Read the job again to get a new download_url.")
	}
	return nil
}

// CheckUpload verifies the parameters of a signed upload address. Error:
// unauthenticated when it is forged, is for another upload or has expired.
func (l Links) CheckUpload(uploadID, expires, signature string, now time.Time) error {
	if wrong := l.check(upload, uploadID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The upload link %s.", wrong).WithAction("Call svc_inspect without arguments to get a new link.")
	}
	return nil
}

// PreviewImage returns an address under which anyone can see the picture of a preview of
// an upload until expires.
func (l Links) PreviewImage(previewID string, expires time.Time) string {
	return l.signed(preview, PreviewImagePath, previewID, expires)
}

// CheckPreviewImage verifies the parameters of a signed address of a picture. Error:
// unauthenticated when it is forged, is for another preview or has expired.
func (l Links) CheckPreviewImage(previewID, expires, signature string, now time.Time) error {
	if wrong := l.check(preview, previewID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The link to the picture %s.", wrong).WithAction("Read the preview again to get a new image_url.")
	}
	return nil
}

// Notices returns an address that ends the mails to a person about jobs, until expires. It works
// without signing in.
func (l Links) Notices(personID string, expires time.Time) string {
	return l.signed(notices, NoticesPath, personID, expires)
}

// CheckNotices verifies the parameters of an address of Notices. Error: unauthenticated when it
// is forged, is for another person or has expired.
func (l Links) CheckNotices(personID, expires, signature string, now time.Time) error {
	if wrong := l.check(notices, personID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The link %s.", wrong).WithAction("Sign in and change your settings at /console/settings.")
	}
	return nil
}

// signed puts the time into the address, since the signature covers it and the
// check must know it.
func (l Links) signed(purpose, path, id string, expires time.Time) string {
	return l.Page(path+id, url.Values{
		"expires": {strconv.FormatInt(expires.Unix(), 10)}, "signature": {l.sign(purpose, id, expires.Unix())},
	})
}

// check returns what is wrong with an address, "" when it is good. It compares
// signatures in constant time, and before the time: nothing is revealed about a
// forged address.
func (l Links) check(purpose, id, expires, signature string, now time.Time) (wrong string) {
	at, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || !hmac.Equal([]byte(signature), []byte(l.sign(purpose, id, at))) {
		return "is not valid"
	}
	if now.Unix() >= at {
		return "has expired"
	}
	return ""
}

// sign returns the HMAC-SHA256 over purpose, id and Unix time, in hexadecimal.
// Lines separate the parts; no id of ours contains a line feed, so no two different
// addresses are signed as the same text.
func (l Links) sign(purpose, id string, expires int64) string {
	mac := hmac.New(sha256.New, l.Key)
	fmt.Fprintf(mac, "%s\n%s\n%d", purpose, id, expires)
	return hex.EncodeToString(mac.Sum(nil))
}
