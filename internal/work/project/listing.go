package project

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
)

// MaxParts bounds the parts that a listing names.
const MaxParts = 2 * MaxFiles

// Listing is a project as its sender lists it: without the hashes of whole files, which
// follow from the parts.
type Listing struct {
	Main  string
	Files []Listed
}

// Listed is one file of a Listing.
type Listed struct {
	Path      string   `json:"path" maxLength:"1024" doc:"Relative, with \"/\" between folders, in UTF-8 NFC."`
	SizeBytes int64    `json:"size_bytes" minimum:"0"`
	Parts     []string `json:"parts" nullable:"false" doc:"SHA-256 of each part, in order; none of a file of 0 bytes."`
}

// Check refuses a listing that breaks a rule, and names the file; most is the most bytes of
// all files together. It looks at the text only. Errors: invalid_project_path,
// upload_too_large, invalid_request.
func (l Listing) Check(most int64) error {
	if len(l.Files) == 0 || len(l.Files) > MaxFiles {
		return fault.Field("body.files", "has %d files; it must have 1 to %d", len(l.Files), MaxFiles)
	}
	taken, parts, left := map[string]string{}, 0, most
	for i, f := range l.Files {
		if err := checkSentPath(f.Path, taken); err != nil {
			return err
		}
		for _, sum := range f.Parts {
			if !digest.Is(sum) {
				return fault.Field(fmt.Sprintf("body.files[%d].parts", i), "has %q, which is not a SHA-256 in lower-case hex", sum)
			}
		}
		if (f.SizeBytes == 0) != (len(f.Parts) == 0) || f.SizeBytes < int64(len(f.Parts)) {
			return fault.Field(fmt.Sprintf("body.files[%d].size_bytes", i), "is %d for %d parts; each part must have at least one byte", f.SizeBytes, len(f.Parts))
		}
		if parts += len(f.Parts); parts > MaxParts {
			return fault.Field("body.files", "name more than %d parts", MaxParts)
		}
		if left -= min(f.SizeBytes, left+1); left < 0 {
			return TooLarge(most)
		}
	}
	if !slices.ContainsFunc(l.Files, func(f Listed) bool { return f.Path == l.Main }) {
		return fault.Field("body.main", "is %q, which is not the path of a file of the project", l.Main)
	}
	return nil
}

// TooLarge is the error of a project with more than most bytes.
func TooLarge(most int64) error {
	return fault.New(fault.UploadTooLarge, "The project is larger than %d bytes in total.", most).
		WithAction("Leave out files that the scene does not need, or ask the operator for a larger --project-size.")
}

// checkSentPath is CheckPath and claim for what a sender lists, with two more rules: names
// are in the composed form of Unicode, so that no two look alike, and fit on disks.
func checkSentPath(at string, taken map[string]string) error {
	err := CheckPath(at)
	switch {
	case err != nil:
	case !norm.NFC.IsNormalString(at):
		err = fmt.Errorf("the path %q is not in composed Unicode (NFC)", at)
	case slices.ContainsFunc(strings.Split(at, "/"), func(name string) bool { return len(name) > maxNameBytes }):
		err = fmt.Errorf("the path %q has a name of more than %d bytes", at, maxNameBytes)
	default:
		err = claim(taken, at)
	}
	if err == nil {
		return nil
	}
	text := err.Error()
	return fault.New(fault.InvalidProjectPath, "%s.", strings.ToUpper(text[:1])+text[1:]).With(map[string]string{"path": at})
}

// maxNameBytes is the limit of common file systems for one name.
const maxNameBytes = 255

// Parts returns the hash of each part once, sorted.
func (l Listing) Parts() []string { return l.unhashed().Parts() }

// unhashed is the manifest without hashes of whole files.
func (l Listing) unhashed() Manifest {
	m := Manifest{Main: l.Main, Files: make([]File, len(l.Files))}
	for i, f := range l.Files {
		m.Files[i] = File{Path: f.Path, SizeBytes: f.SizeBytes, Parts: f.Parts}
	}
	return m
}

// Manifest makes the manifest of a checked listing, whose parts are stored. hash hashes the
// files that have several parts, in order of the listing. Errors: invalid_request for a file
// whose size is not that of its parts, and those of hash.
func (l Listing) Manifest(stored map[string]Content, hash func(File) (string, error)) (Manifest, error) {
	m := l.unhashed()
	for i, f := range m.Files {
		var size int64
		for _, sum := range f.Parts {
			size += stored[sum].SizeBytes
		}
		if size != f.SizeBytes {
			return m, fault.Field(fmt.Sprintf("body.files[%d].size_bytes", i), "is %d; the parts of %q have %d bytes", f.SizeBytes, f.Path, size)
		}
	}
	if err := m.checkRepeats(stored); err != nil {
		return m, err
	}
	hashed := map[string]string{} // of files with the same parts
	for i, f := range m.Files {
		var err error
		switch len(f.Parts) {
		case 0:
			m.Files[i].SHA256, m.Files[i].Parts = EmptySHA256, []string{}
		case 1:
			m.Files[i].SHA256 = f.Parts[0]
		default:
			parts := strings.Join(f.Parts, "")
			if hashed[parts] == "" {
				hashed[parts], err = hash(f)
			}
			m.Files[i].SHA256 = hashed[parts]
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

// checkRepeats refuses files whose parts repeat so often that hashing them takes far longer
// than it took to send the parts: a part of 32 MiB, listed 254 times, is 8 GiB to hash. Error:
// invalid_request.
func (m Manifest) checkRepeats(stored map[string]Content) error {
	var whole, sent int64
	files, parts := map[string]bool{}, map[string]bool{}
	for _, f := range m.Files {
		list := strings.Join(f.Parts, "")
		if len(f.Parts) < 2 || files[list] {
			continue // it needs no hashing, or no further hashing
		}
		files[list] = true
		whole += f.SizeBytes
		for _, sum := range f.Parts {
			if !parts[sum] {
				sent += stored[sum].SizeBytes
			}
			parts[sum] = true
		}
	}
	if repeated := whole - sent; repeated > max(sent, contract.RepeatedBytes) {
		return fault.Field("body.files", "repeat parts for %d bytes; the limit is %d bytes or the size of the parts, whichever is larger", repeated, int64(contract.RepeatedBytes))
	}
	return nil
}

// EmptySHA256 is the hash of a file of 0 bytes.
const EmptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// MainFile returns the main file. Every checked manifest has it.
func (m Manifest) MainFile() File {
	return m.Files[slices.IndexFunc(m.Files, func(f File) bool { return f.Path == m.Main })]
}

// Name returns the file name of the main file.
func (m Manifest) Name() string { return path.Base(m.Main) }
