package front

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestATextIsCompressedForCallersThatTakeIt and for no others, and not if it is short.
func TestATextIsCompressedForCallersThatTakeIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("svc ", 1000)
	for accepted, zipped := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.8": true, "gzip;q=0": false, "": false, "br": false, "identity": false, "xgzip": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", accepted)
		w := httptest.NewRecorder()
		WriteText(w, r, []byte(long))
		var text io.Reader = w.Body
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accepted, w.Header())
		}
		if zipped {
			var err error
			if text, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := io.ReadAll(text); err != nil || string(all) != long {
			t.Errorf("%q: %d bytes, %v", accepted, len(all), err)
		}
		short := httptest.NewRecorder()
		if WriteText(short, r, []byte("short")); short.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q: a short text is compressed", accepted)
		}
	}
}
