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
)

// Download is an address that authorises itself until expires.
func (l Links) Download(jobID string, expires time.Time) string {
	return l.signed(download, DownloadPath, jobID, expires)
}

// Upload is an address that takes the file of an awaited upload until expires.
func (l Links) Upload(uploadID string, expires time.Time) string {
	return l.signed(upload, UploadPath, uploadID, expires)
}

// CheckDownload verifies a signed download address; unauthenticated when it is
// forged or too old.
func (l Links) CheckDownload(jobID, expires, signature string, now time.Time) error {
	if wrong := l.check(download, jobID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The download link %s.", wrong).WithAction("Read the job again for a new download_url.")
	}
	return nil
}

// CheckUpload verifies a signed upload address; unauthenticated when it is forged
// or too old.
func (l Links) CheckUpload(uploadID, expires, signature string, now time.Time) error {
	if wrong := l.check(upload, uploadID, expires, signature, now); wrong != "" {
		return fault.New(fault.Unauthenticated, "The upload link %s.", wrong).WithAction("Call svc_inspect without arguments for a new link.")
	}
	return nil
}

func (l Links) signed(purpose, path, id string, expires time.Time) string {
	return l.Page(path+id, url.Values{
		"expires": {strconv.FormatInt(expires.Unix(), 10)}, "signature": {l.sign(purpose, id, expires.Unix())},
	})
}

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

func (l Links) sign(purpose, id string, expires int64) string {
	mac := hmac.New(sha256.New, l.Key)
	fmt.Fprintf(mac, "%s\n%s\n%d", purpose, id, expires)
	return hex.EncodeToString(mac.Sum(nil))
}
