// Package links builds every public address of the service, and signs and checks
// those that authorise their holder.
//
// What always holds: absolute addresses are built only here, from one base
// (Links.PublicURL) and one table of paths (paths.go), so that a route and the
// addresses that lead to it cannot differ. A signed address is good for one
// purpose, one id and one time.
//
// The route decides whether the target of an address exists and who may read it.
// Start reading at Links, then signed.go.
package links

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// Links makes absolute addresses. The zero value makes addresses without a host,
// which suits tests; it must sign nothing, because anyone could forge an empty
// key. Links never changes and is safe for concurrent use.
type Links struct {
	PublicURL string // how callers reach the service, without a slash at the end
	Key       []byte // signs addresses: 32 random bytes that all processes of one service share
}

// To returns the address of a path of this service, which begins with a slash. It
// serves routes without a parameter; a route with an id has a method of its own.
func (l Links) To(path string) string { return l.PublicURL + path }

// Terms returns the address of the text that legal_acceptance accepts.
func (l Links) Terms() string { return l.To(TermsPath) }

// Wallet returns the page of a person's money.
func (l Links) Wallet() string { return l.To(WalletPath) }

// Page returns the address of a path with a query, such as the next page of a list.
// The values are escaped.
func (l Links) Page(path string, query url.Values) string { return l.To(path) + "?" + query.Encode() }

// Host returns the host name of the public address, without a port; "localhost"
// when there is none, so that the result is never empty.
func (l Links) Host() string {
	u, err := url.Parse(l.PublicURL)
	if err != nil || u.Hostname() == "" {
		return "localhost"
	}
	return u.Hostname()
}

// Secure reports whether callers come by HTTPS, so that cookies may demand it.
func (l Links) Secure() bool { return strings.HasPrefix(l.PublicURL, "https://") }

// Job returns the address of a job. jobs is RendersPath or NodeJobsPath: each takes its
// own kind of key (spec 5), so links follow the reader, not the flow that made the job.
func (l Links) Job(jobs, jobID string) string { return l.To(jobs + "/" + jobID) }

// JobReceipt returns where a completed job's receipt is read.
func (l Links) JobReceipt(jobs, jobID string) string { return l.Job(jobs, jobID) + "/receipt" }

// JobProof returns where the proof of a completed job is read.
func (l Links) JobProof(jobs, jobID string) string { return l.Job(jobs, jobID) + "/proof" }

// Preview returns where a small picture of a job's frame is read; jobs is as in Job.
func (l Links) Preview(jobs, jobID string, frame int) string {
	return l.Job(jobs, jobID) + "/frames/" + strconv.Itoa(frame) + "/preview"
}

// FrameFile returns where a job's frame is read as it was rendered; jobs is as in Job.
func (l Links) FrameFile(jobs, jobID string, frame int) string {
	return l.Job(jobs, jobID) + "/frames/" + strconv.Itoa(frame) + "/file"
}

// FrameOutput returns the address of a file of a File Output node of a frame: below is that of
// the frame's picture, as FrameFile or Preview return it.
func FrameOutput(below, name string) string {
	return below + "?" + url.Values{"output": {name}}.Encode()
}

// ContactSheet, Loop and Movie are below the address of a job.
const (
	ContactSheet = "/contact-sheet"
	Loop         = "/loop"
	Movie        = "/movie"
)

// JobContactSheet returns where a job's contact sheet is read; jobs is as in Job.
func (l Links) JobContactSheet(jobs, jobID string) string { return l.Job(jobs, jobID) + ContactSheet }

// JobMovie returns where a job's movie is read; jobs is as in Job.
func (l Links) JobMovie(jobs, jobID string) string { return l.Job(jobs, jobID) + Movie }

// JobLoop returns where a job's loop is read; jobs is as in Job.
func (l Links) JobLoop(jobs, jobID string) string { return l.Job(jobs, jobID) + Loop }

// JobsIn returns JSON in which every link to a job leads below jobs. Only members whose
// names end in _url are links: a quote inside a text would be escaped.
func (l Links) JobsIn(text []byte, jobs string) []byte {
	for _, other := range []string{RendersPath, NodeJobsPath} {
		if other != jobs {
			text = bytes.ReplaceAll(text, []byte(`_url":"`+l.To(other)+"/"), []byte(`_url":"`+l.To(jobs)+"/"))
		}
	}
	return text
}

// ProofPage returns the page on which anyone can check a receipt, if its
// workspace allows it.
func (l Links) ProofPage(receiptID string) string { return l.To(ProofPath + receiptID) }

// SharePage returns the public page of a job. The token authorises its holder.
func (l Links) SharePage(token string) string { return l.To(SharePath + token) }

// Result returns the leaderboard's page of one benchmark result.
func (l Links) Result(resultID string) string { return l.To(ResultPath + resultID) }

// GPU returns the leaderboard's page of one GPU.
func (l Links) GPU(slug string) string { return l.To(GPUPath + slug) }

// Invitation returns the address that opens an invitation. The token works once; that is
// kept by its issuer.
func (l Links) Invitation(token string) string {
	return l.Page(InvitationPath, url.Values{"token": {token}})
}

// SignIn returns the address that a sign-in link opens. The token works once; that
// is kept by its issuer, not by the address.
func (l Links) SignIn(token string) string {
	return l.Page(SignInPath, url.Values{"token": {token}})
}
