// Package links builds every public address of the service, and signs and checks
// those that authorise themselves.
//
// What always holds: an absolute address is built here and nowhere else, from one
// base (Links.PublicURL) and one table of paths (paths.go), so that a route and the
// addresses that lead to it cannot differ; a signed address is good for one purpose,
// one id and one time.
//
// It knows nothing of what an address leads to: who may read it, and whether it is
// there, is decided behind it. Start reading at Links, then signed.go.
package links

import (
	"net/url"
	"strconv"
	"strings"
)

// Links makes absolute addresses. The zero value makes addresses without a host.
type Links struct {
	PublicURL string // how callers reach the service, without a slash at the end
	Key       []byte // signs addresses: 32 random bytes that all processes of one service share
}

// To is the address of a path of this service, which begins with a slash. It serves
// routes without a parameter; what has an id in its address has a method of its own.
func (l Links) To(path string) string { return l.PublicURL + path }

// Page is the address of a path with a query: the next page of a list.
func (l Links) Page(path string, query url.Values) string { return l.To(path) + "?" + query.Encode() }

// Host is the host name of the public address, without a port; "localhost" where
// there is none.
func (l Links) Host() string {
	u, err := url.Parse(l.PublicURL)
	if err != nil || u.Hostname() == "" {
		return "localhost"
	}
	return u.Hostname()
}

// Secure reports whether callers come by HTTPS, so that cookies may demand it.
func (l Links) Secure() bool { return strings.HasPrefix(l.PublicURL, "https://") }

// Job is the address of a job; jobs is RendersPath or NodeJobsPath, by the door that
// it came through.
func (l Links) Job(jobs, jobID string) string { return l.To(jobs + "/" + jobID) }

// JobReceipt is where a completed job's receipt is read.
func (l Links) JobReceipt(jobs, jobID string) string { return l.Job(jobs, jobID) + "/receipt" }

// JobProof is where the proof of a completed job is read.
func (l Links) JobProof(jobs, jobID string) string { return l.Job(jobs, jobID) + "/proof" }

// Preview is where a small picture of a job's frame is read.
func (l Links) Preview(jobID string, frame int) string {
	return l.Job(RendersPath, jobID) + "/frames/" + strconv.Itoa(frame) + "/preview"
}

// ProofPage is the page on which anybody checks a receipt, where its workspace shows
// it.
func (l Links) ProofPage(receiptID string) string { return l.To(ProofPath + receiptID) }

// Result is the leaderboard's page of one benchmark result.
func (l Links) Result(resultID string) string { return l.To(ResultPath + resultID) }

// GPU is the leaderboard's page of one GPU.
func (l Links) GPU(slug string) string { return l.To(GPUPath + slug) }

// SignIn is the address that a sign-in link opens, once.
func (l Links) SignIn(token string) string {
	return l.Page(SignInPath, url.Values{"token": {token}})
}
