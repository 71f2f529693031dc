package front

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// leastZipped is the size from which a text is worth compressing, in bytes: about what one
// packet carries.
const leastZipped = 1400

// WriteText writes a text, compressed if the caller accepts that. It sets no status. Never
// use it for a response that has a secret next to the caller's own words: the compressed
// size would reveal both.
func WriteText(w http.ResponseWriter, r *http.Request, text []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if Zips(r, text) {
		w.Header().Set("Content-Encoding", "gzip")
		text = Zip(text)
	}
	_, _ = w.Write(text) // a failed write means the caller is gone
}

// Zips reports whether WriteText compresses a text for a caller.
func Zips(r *http.Request, text []byte) bool { return len(text) >= leastZipped && AcceptsGzip(r) }

// OwnRequest reports whether a browser says that no other site caused a request: a page of this
// service did, or the person. No site can forge the header.
func OwnRequest(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "same-origin" || site == "none"
}

// AcceptsGzip reports whether a caller takes gzip (RFC 9110 12.5.3).
func AcceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighed := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return !weighed || (err == nil && q > 0)
	}
	return false
}

// Zip compresses a text.
func Zip(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	// Memory takes everything.
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}
