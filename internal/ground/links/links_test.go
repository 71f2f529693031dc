package links_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

func TestAddressesBeginWithThePublicURL(t *testing.T) {
	t.Parallel()
	l := links.Links{PublicURL: "https://svc.example"}
	for got, want := range map[string]string{
		l.To(links.DocsPath):                           "https://svc.example/docs",
		l.Job(links.NodeJobsPath, "JOB-1"):             "https://svc.example/node/v1/jobs/JOB-1",
		l.JobReceipt(links.RendersPath, "JOB-1"):       "https://svc.example/v1/renders/JOB-1/receipt",
		l.JobProof(links.NodeJobsPath, "JOB-1"):        "https://svc.example/node/v1/jobs/JOB-1/proof",
		l.Preview(links.RendersPath, "JOB-1", 7):       "https://svc.example/v1/renders/JOB-1/frames/7/preview",
		l.ProofPage("RCP-1"):                           "https://svc.example/proof/RCP-1",
		l.Result("BMR-1"):                              "https://svc.example/leaderboard/result/BMR-1",
		l.GPU("rtx"):                                   "https://svc.example/leaderboard/gpu/rtx",
		l.SignIn("secret"):                             "https://svc.example/v1/auth/callback?token=secret",
		l.Page("/list", url.Values{"before": {"a b"}}): "https://svc.example/list?before=a+b",
	} {
		if got != want {
			t.Errorf("address %s, want %s", got, want)
		}
	}
}

func TestHostAndSecureComeFromThePublicURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, host string
		secure    bool
	}{
		{"https://svc.example:8443", "svc.example", true}, {"http://127.0.0.1:8080", "127.0.0.1", false}, {"", "localhost", false},
	} {
		if l := (links.Links{PublicURL: c.url}); l.Host() != c.host || l.Secure() != c.secure {
			t.Errorf("%q: host %s, secure %v", c.url, l.Host(), l.Secure())
		}
	}
}

// TestASignedAddressIsForOnePurposeOneThingAndOneTime reads the signature out of an
// address and tries it for everything else.
func TestASignedAddressIsForOnePurposeOneThingAndOneTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_768_485_600, 0)
	l := links.Links{PublicURL: "https://svc.example", Key: []byte(strings.Repeat("k", 32))}
	other := links.Links{PublicURL: l.PublicURL, Key: []byte(strings.Repeat("o", 32))}
	u, err := url.Parse(l.Download("JOB-1", now.Add(time.Hour)))
	if err != nil || u.Path != "/v1/artifacts/JOB-1" {
		t.Fatalf("download address %v, %v", u, err)
	}
	expires, signature := u.Query().Get("expires"), u.Query().Get("signature")
	if err := l.CheckDownload("JOB-1", expires, signature, now); err != nil {
		t.Errorf("the address itself: %v", err)
	}
	for name, err := range map[string]error{
		"another job":       l.CheckDownload("JOB-2", expires, signature, now),
		"another time":      l.CheckDownload("JOB-1", expires+"0", signature, now),
		"no time":           l.CheckDownload("JOB-1", "soon", signature, now),
		"after its time":    l.CheckDownload("JOB-1", expires, signature, now.Add(time.Hour)),
		"another purpose":   l.CheckUpload("JOB-1", expires, signature, now),
		"another service":   other.CheckDownload("JOB-1", expires, signature, now),
		"without signature": l.CheckDownload("JOB-1", expires, "", now),
	} {
		if !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v, want unauthenticated", name, err)
		}
	}
}
