// Package redact takes secrets out of texts that people and logs get: keys, tokens,
// signed links, webhook secrets and signatures, private keys.
//
// What always holds: the first characters of a key stay, as in lists, so that its owner
// recognises it; the host and path of a link stay. It knows secrets by their form only,
// so what shows a secret on purpose, such as the answer to svc admin key create, does not
// call it. Start reading at Text.
package redact

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// shown is how much of a key may be shown after its prefix, in characters. A text
// counts as a key from keyLength on. So a key that was cut while copying is hidden
// too, but the name of a tool such as svc_download is not.
const shown = "[0-9A-Za-z]{8}"

// forms match what grants access. The groups of each stay; what is between or after them
// is hidden.
var forms = []*regexp.Regexp{
	regexp.MustCompile(`(svc_(?:agent_test_|test_|agent_|node_|operator_|refresh_)?` + shown + `)[0-9A-Za-z]{12,}`),
	regexp.MustCompile(`(whsec_)[0-9A-Za-z+/=_-]{8,}`),
	// Values of a query: of our own links, and of those that stores sign.
	regexp.MustCompile(`((?i:[?&][0-9a-z_.-]*(?:sig|signature|token|key|secret|password|credential)=))[^&\s"'<>]+`),
	regexp.MustCompile(`((?i:\bbearer ))[0-9A-Za-z_.~+/=-]{8,}`),
	regexp.MustCompile(`(\bv1,)[0-9A-Za-z+/]{40,}=*`), // the signature of a webhook
	regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/?#@\s"']+(@)`),
	regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[0-9A-Za-z+/=\s]{4,}(-----END [A-Z ]*PRIVATE KEY-----)?`),
}

// Text returns text with … in the place of each secret.
func Text(text string) string {
	for _, form := range forms {
		text = form.ReplaceAllString(text, "${1}…${2}")
	}
	return text
}

// URLs cuts the addresses in err down to scheme, host and path, and returns err: net/http
// puts the whole address of a request that failed into its error, and with a signed link
// that is the right to use it. It changes the *url.Errors in the chain themselves: call
// it before the error becomes part of another one's text, or is given to another goroutine.
// An error that is cut already is only read: several may fail for it.
func URLs(err error) error {
	for failed := err; failed != nil; failed = errors.Unwrap(failed) {
		if at, ok := errors.AsType[*url.Error](failed); ok {
			if cut := Address(at.URL); cut != at.URL {
				at.URL = cut
			}
			// An error may quote another address, such as that of a redirect.
			if said := Text(at.Err.Error()); said != at.Err.Error() {
				at.Err = hidden{at.Err, said}
			}
			failed = at
		}
	}
	return err
}

// hidden is an error with another text.
type hidden struct {
	error
	said string
}

func (h hidden) Error() string { return h.said }

func (h hidden) Unwrap() error { return h.error }

// Address returns an address without its user, password, query and fragment. It works on
// texts that are no address as well: one that cannot be parsed may hold a secret too.
func Address(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if len(rest) > strings.IndexByte(rest+"/", '/') {
		path = "/" + path
	}
	return scheme + "://" + host + path
}
