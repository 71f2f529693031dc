package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// ErrNothingChecked reports a sound list of which no file is there.
var ErrNothingChecked = errors.New("no file was checked")

// Report is the result of a verification. KeyID names the key that signed, "" if none
// of the keys did.
type Report struct {
	KeyID  string
	Checks []receipt.Check
	err    error // the first failure
}

// Err returns nil if nothing failed, otherwise the first failure: a
// [receipt.ErrBadSignature], a [receipt.ErrBadArtifact] or an [ErrNothingChecked].
func (r Report) Err() error { return r.err }

func (r *Report) add(name string, status receipt.Status, text string, args ...any) {
	r.Checks = append(r.Checks, receipt.Check{Name: name, Status: status, Text: fmt.Sprintf(text, args...)})
}

func (r *Report) fail(kind error, name, text string, args ...any) {
	r.add(name, receipt.Failed, text, args...)
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %s", kind, name, r.Checks[len(r.Checks)-1].Text)
	}
}

// Verify checks the text of SumsFile against the content of SignatureFile and the keys,
// and the files of the folder against the text. These are its checks, in order; after a
// failure of the first two there is nothing to hold files against:
//
//	signature  the signature file is unchanged and signed by one of the keys
//	sums       the text is the list that was signed
//	NAME       each file of the list, by its name: its SHA-256, or skipped if it is not there
//
// It fails with ErrNothingChecked when the list is sound and none of its files is there.
func Verify(sums, signature []byte, keys []signingkey.Public, folder string) (report Report) {
	signed, keyID, err := unseal(signature, keys)
	if err != nil {
		report.fail(receipt.ErrBadSignature, "signature", "%s", strings.TrimPrefix(err.Error(), receipt.ErrBadSignature.Error()+": "))
		return report
	}
	report.KeyID = keyID
	report.add("signature", receipt.OK, "Ed25519, key %s", report.KeyID)
	files, err := sameList(sums, signed)
	if err != nil {
		report.fail(receipt.ErrBadSignature, "sums", "%v", err)
		return report
	}
	report.add("sums", receipt.OK, "the signed list of %d files", len(files))
	checked := 0
	for _, f := range files {
		if report.checkFile(folder, f) {
			checked++
		}
	}
	if checked == 0 {
		report.err = fmt.Errorf("%w: none of the %d files of the list is in its folder", ErrNothingChecked, len(files))
	}
	return report
}

// unseal returns the signed text and the id of the key that signed it.
func unseal(signature []byte, keys []signingkey.Public) (signed []byte, keyID string, err error) {
	for _, key := range keys {
		if signed, err = receipt.Unseal(signature, []signingkey.Public{key}); err == nil {
			return signed, key.ID(), nil
		}
	}
	_, err = receipt.Unseal(signature, keys) // what is wrong for all of them
	return nil, "", err
}

// sameList returns the files of the text if it is the signed list. It rebuilds the
// signed bytes from the text, so nothing in them can be overlooked.
func sameList(sums, signed []byte) ([]File, error) {
	files, err := ParseSums(sums)
	if err != nil {
		return nil, fmt.Errorf("not a list of sums: %w", err)
	}
	want, err := stated(files)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(want, signed) {
		return files, nil
	}
	var other statement
	if err := json.Unmarshal(signed, &other); err != nil || other.PredicateType != PredicateType {
		return nil, fmt.Errorf("what the key signed is not a release, but of type %q", other.PredicateType)
	}
	return nil, errors.New("it is not the list that was signed")
}

// checkFile reports whether the file was there to be checked.
func (r *Report) checkFile(folder string, f File) bool {
	path := filepath.Join(folder, f.Name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.add(f.Name, receipt.Skipped, "not there: not checked")
		return false
	}
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait for ever
		err = errors.New("it is not a file")
	}
	sum := ""
	if err == nil {
		sum, err = digest.OfFile(path)
	}
	switch {
	case err != nil:
		r.fail(receipt.ErrBadArtifact, f.Name, "%v", err)
	case sum != f.SHA256:
		r.fail(receipt.ErrBadArtifact, f.Name, "its SHA-256 is %s, the list says %s", sum, f.SHA256)
	default:
		r.add(f.Name, receipt.OK, "SHA-256 %s", sum)
	}
	return true
}
