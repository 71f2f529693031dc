// Package release is the signed list of the files of a release: how it is signed when
// svc is published, and how anyone who downloads svc checks it.
//
// What always holds: a file passes only if the list names it, the list is the one that
// was signed, and the file's SHA-256 is the one in the list; a missing file is reported
// as skipped; a list can name no file outside its own folder. The signature has the form
// of receipts, which package receipt defines. Start reading at Verify.
package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
)

// Names of the files that lie next to what they describe: the list of sums, its signature in
// the form of receipts, and its raw signature, which openssl checks.
const (
	SumsFile         = "SHA256SUMS"
	SignatureFile    = SumsFile + ".dsse"
	RawSignatureFile = SumsFile + ".sig"
)

// PredicateType is the type of the signed statement.
const PredicateType = "https://svc.example/release/v1"

// File is a file of a release.
type File struct {
	Name   string // without a folder
	SHA256 string // 64 lower-case hex digits
}

// statement is the in-toto form of a list. The order of its fields is the order of the
// signed bytes and must not change.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
}

type subject struct {
	Name   string        `json:"name"`
	Digest subjectDigest `json:"digest"`
}

type subjectDigest struct {
	SHA256 string `json:"sha256"`
}

// stated is the text that is signed for a list: the same list gives the same bytes.
func stated(files []File) ([]byte, error) {
	made := statement{Type: receipt.StatementType, PredicateType: PredicateType}
	for _, f := range files {
		made.Subject = append(made.Subject, subject{f.Name, subjectDigest{f.SHA256}})
	}
	return json.Marshal(made)
}

// Sign returns the content of SignatureFile for the text of SumsFile. It refuses a text
// that ParseSums refuses.
func Sign(sums []byte, key signingkey.Key) ([]byte, error) {
	files, err := ParseSums(sums)
	if err != nil {
		return nil, fmt.Errorf("sign the sums: %w", err)
	}
	payload, err := stated(files)
	if err != nil {
		return nil, fmt.Errorf("sign the sums: %w", err)
	}
	envelope, err := receipt.Seal(payload, key)
	if err != nil {
		return nil, fmt.Errorf("sign the sums: %w", err)
	}
	return append(envelope, '\n'), nil
}

// sumLine is a line as sha256sum writes it. The name has no folder and no character
// that means something to a system or a shell.
var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  ([A-Za-z0-9][A-Za-z0-9._+~-]*)$`)

// ParseSums reads a list in the form that make release writes, which is that of
// sha256sum. It refuses an empty list, a name that is there twice, and a name that could
// be a file outside of the list's folder.
func ParseSums(text []byte) (files []File, err error) {
	body, ended := bytes.CutSuffix(text, []byte("\n"))
	if !ended {
		return nil, errors.New("it is empty or truncated")
	}
	known := map[string]bool{}
	for i, line := range strings.Split(string(body), "\n") {
		found := sumLine.FindStringSubmatch(line)
		if found == nil || !filepath.IsLocal(found[2]) { // IsLocal refuses the devices of Windows
			return nil, fmt.Errorf("line %d is not a SHA-256 and the name of a file in this folder", i+1)
		}
		if known[found[2]] {
			return nil, fmt.Errorf("line %d names %s again", i+1, found[2])
		}
		known[found[2]] = true
		files = append(files, File{Name: found[2], SHA256: found[1]})
	}
	return files, nil
}
