package render

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"svc.example/internal/fault"
)

// Links makes the addresses that answers carry, and checks the signed ones.
type Links struct {
	PublicURL string // without a slash at the end
	Key       []byte // 32 random bytes; all processes of one service share it
}

// DownloadPath is where signed downloads are served, followed by the job id.
const DownloadPath = "/v1/artifacts/"

// Job is a job's own address, by the door it came through.
func (l Links) Job(flow Flow, jobID string) string {
	if flow == FlowPublicV1 {
		return l.PublicURL + "/v1/renders/" + jobID
	}
	return l.PublicURL + "/node/v1/jobs/" + jobID
}

// Download is an address that authorises itself until expires.
func (l Links) Download(jobID string, expires time.Time) string {
	q := url.Values{}
	q.Set("expires", strconv.FormatInt(expires.Unix(), 10))
	q.Set("signature", l.sign(jobID, expires.Unix()))
	return l.PublicURL + DownloadPath + jobID + "?" + q.Encode()
}

// Check verifies a signed download address; unauthenticated when it is forged
// or too old.
func (l Links) Check(jobID, expires, signature string, now time.Time) error {
	at, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || !hmac.Equal([]byte(signature), []byte(l.sign(jobID, at))) {
		return fault.New(fault.Unauthenticated, "The download link is not valid.").Do("Read the job again for a new download_url.")
	}
	if now.Unix() >= at {
		return fault.New(fault.Unauthenticated, "The download link has expired.").Do("Read the job again for a new download_url.")
	}
	return nil
}

func (l Links) sign(jobID string, expires int64) string {
	mac := hmac.New(sha256.New, l.Key)
	fmt.Fprintf(mac, "download\n%s\n%d", jobID, expires)
	return hex.EncodeToString(mac.Sum(nil))
}
