package receipt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"svc.example/internal/ground/digest"
)

// Input is the .blend that was rendered, and of a project all its files, that one among
// them (decisions 16). Files and ProjectSHA256 are absent of a .blend that was sent alone.
type Input struct {
	File
	// Files are sorted by path.
	Files []InputFile `json:"files,omitempty"`
	// ProjectSHA256 is the SHA-256 of the lines "SHA256  path", one for each of Files, each
	// with a line feed, as sha256sum prints them.
	ProjectSHA256 string `json:"project_sha256,omitempty"`
}

// InputFile is one file of a project. Path has "/" between its folders.
type InputFile struct {
	Path      string `json:"path"`
	SHA256    string `json:"sha256"`
	SizeBytes int64  `json:"size_bytes"`
}

// InputOf is the input of a project; of one with a single file, of that .blend alone.
func InputOf(main File, files []InputFile) Input {
	if len(files) < 2 {
		return Input{File: main}
	}
	in := Input{File: main, Files: slices.SortedFunc(slices.Values(files), func(a, b InputFile) int { return cmp.Compare(a.Path, b.Path) })}
	in.ProjectSHA256 = in.sum()
	return in
}

// sum computes ProjectSHA256.
func (in Input) sum() string {
	sum := sha256.New()
	for _, f := range in.Files {
		fmt.Fprintf(sum, "%s  %s\n", f.SHA256, f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// consistent checks that the files of a project go together.
func (in Input) consistent() error {
	if len(in.Files) == 0 && in.ProjectSHA256 == "" {
		return nil
	}
	main, last := false, ""
	for _, f := range in.Files {
		switch {
		case !digest.Is(f.SHA256) || f.SizeBytes < 0:
			return fmt.Errorf("file %q of the project has no proper hash or size", f.Path)
		case !fs.ValidPath(f.Path) || f.Path <= last:
			return fmt.Errorf("file %q of the project has no proper path, or not its place", f.Path)
		}
		main, last = main || f.SHA256 == in.SHA256 && f.SizeBytes == in.SizeBytes, f.Path
	}
	if !main {
		return errors.New("the main file is not in the project")
	}
	if in.ProjectSHA256 != in.sum() {
		return errors.New("the hash of the project is not that of its files")
	}
	return nil
}

// InProject adds the check "project": whether the files of the receipt's input are in a
// folder, as they were rendered. The folder may hold more. Call it after a [Verify] with a
// receipt.
func (r *Report) InProject(dir fs.FS) {
	in := r.Receipt.Input
	files := in.Files
	if len(files) == 0 {
		files = []InputFile{{in.Filename, in.SHA256, in.SizeBytes}}
	}
	for _, f := range files {
		if wrong := f.differs(dir); wrong != "" {
			r.add("project", Failed, "%s: %s", f.Path, wrong)
			return
		}
	}
	r.add("project", OK, "%s as rendered", counted(int64(len(files)), "file"))
}

// AsSent adds the check "project" without the files: whether the rendered project has the hash
// of the one that was sent. Call it after a [Verify] with a receipt.
func (r *Report) AsSent(projectSHA256 string) {
	in := r.Receipt.Input
	if in.ProjectSHA256 != projectSHA256 {
		r.add("project", Failed, "its SHA-256 is %s, svc render sent %s", cmp.Or(in.ProjectSHA256, "none: one .blend was rendered"), projectSHA256)
		return
	}
	r.add("project", OK, "%s as svc render sent them, SHA-256 %s", counted(int64(len(in.Files)), "file"), projectSHA256)
}

// differs says how a file in a folder differs; "" if it is the same.
func (f InputFile) differs(dir fs.FS) string {
	file, err := dir.Open(f.Path)
	if err != nil {
		return "it cannot be opened: " + reason(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "it cannot be read: " + reason(err)
	case !info.Mode().IsRegular():
		return "it is no file"
	case info.Size() != f.SizeBytes:
		return fmt.Sprintf("it has %d bytes, the receipt states %d", info.Size(), f.SizeBytes)
	}
	sum, err := digest.Of(file)
	if err != nil {
		return "it cannot be read: " + reason(err)
	}
	if sum != f.SHA256 {
		return fmt.Sprintf("its SHA-256 is %s, the receipt states %s", sum, f.SHA256)
	}
	return ""
}

// reason is an error without the path, which stands before it.
func reason(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}
