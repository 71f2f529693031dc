package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"svc.example/internal/ground/archive"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
)

// archiveExtension is that of archives, in any case.
const archiveExtension = ".zip"

// IsArchive reports whether a file's name is that of an archive.
func IsArchive(filename string) bool {
	return strings.EqualFold(path.Ext(filename), archiveExtension)
}

// Archive is a .zip that has arrived as a whole and is not unpacked. End it with Abort; that
// does nothing to what Unpack has made. Not safe for concurrent use.
type Archive struct {
	*draft
	zip *content
}

// ReceiveArchive reads a .zip of at most contract.MaxUploadBytes (decisions 16). Its bytes
// count as stored until Abort. Errors: upload_too_large, storage_limit_reached,
// invalid_request when the body breaks off, and the body's own.
func (in *Intake) ReceiveArchive(ctx context.Context, workspaceID string, f File) (*Archive, error) {
	d, c, err := in.beginOne(ctx, workspaceID, "", f.Announced, false)
	if err != nil {
		return nil, err
	}
	source := c.source(ctx, f.Body, contract.MaxUploadBytes, TooLarge)
	if err := readAll(ctx, source); err != nil {
		d.abort()
		return nil, source.err
	}
	c.read(source)
	if err := c.commit(); err != nil {
		d.abort()
		return nil, err
	}
	return &Archive{d, c}, nil
}

// Abort removes the archive.
func (a *Archive) Abort() { a.abort() }

// SHA256 is the hash of the archive's bytes, in lower-case hex.
func (a *Archive) SHA256() string { return a.zip.sha256 }

// Unpack makes a project of the archive's files, and inspects it. main is the path of the
// .blend to render; "" where it is the only one that no other links; it is rendered with
// settings. End the result with Quote or Abort. Errors: invalid_archive, invalid_project_path, main_file_ambiguous,
// storage_limit_reached, and those of ReceiveProject.
func (a *Archive) Unpack(ctx context.Context, main string, s settings.Settings) (*Received, error) {
	leave, err := a.in.enterProject(ctx, a.workspaceID)
	if err != nil {
		return nil, err
	}
	defer leave()
	stored, err := a.in.Blobs.Open(ctx, a.zip.key)
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	defer func() { _ = stored.Close() }()
	files, err := a.in.filesOf(ctx, stored)
	if err != nil {
		return nil, err
	}
	d, err := a.in.begin(ctx, a.workspaceID, 0, false)
	if err != nil {
		return nil, err
	}
	r := &Received{draft: d, uploadID: id.New(id.Upload), later: true}
	tree, err := r.unpack(ctx, files)
	if err == nil {
		r.manifest.Main, err = chooseMain(ctx, tree, r.manifest, main)
	}
	if err == nil {
		err = r.inspectProject(ctx, tree)
	}
	if err == nil {
		err = r.Choose(ctx, s)
	}
	if err != nil {
		r.Abort()
		return nil, gone(err)
	}
	return r, nil
}

// filesOf reads an archive's directory, and refuses files that no project may have.
func (in *Intake) filesOf(ctx context.Context, r blob.Reader) (files []archive.File, err error) {
	ratelimit.Work(ctx, func() { files, err = archive.Open(r, r.Size()) })
	if err != nil {
		return nil, badArchive(err)
	}
	if len(files) == 0 {
		return nil, badArchive(&archive.Error{Reason: "holds no file"})
	}
	// The rules are those of a listing. The parts are not known yet.
	l := project.Listing{Main: files[0].Path}
	for _, f := range files {
		one := project.Listed{Path: f.Path, SizeBytes: f.Size}
		if f.Size > 0 {
			one.Parts = []string{project.EmptySHA256} // any hash
		}
		l.Files = append(l.Files, one)
	}
	return files, l.Check(in.projectSize())
}

// badArchive translates an error of package archive.
func badArchive(err error) error {
	e, ok := errors.AsType[*archive.Error](err)
	if !ok {
		return err
	}
	f := fault.New(fault.InvalidArchive, "%s", inspection.Sentence(e))
	if e.Path != "" {
		f = f.With(map[string]string{"path": e.Path})
	}
	return f
}

// unpack stores the files of an archive, each as one part, and makes the manifest without
// its main file. What the workspace has, or another file of the archive, is stored once.
func (r *Received) unpack(ctx context.Context, files []archive.File) (*project.Tree, error) {
	keys := map[string]string{}
	for i := range files {
		f := project.File{Path: files[i].Path, SizeBytes: files[i].Size, SHA256: project.EmptySHA256, Parts: []string{}}
		if f.SizeBytes > 0 {
			sum, key, err := r.unpackFile(ctx, &files[i], keys)
			if err != nil {
				return nil, err
			}
			keys[sum], f.SHA256, f.Parts = key, sum, []string{sum}
		}
		r.manifest.Files = append(r.manifest.Files, f)
	}
	return project.NewTree(ctx, r.in.Blobs, r.manifest, keys), nil
}

// unpackFile stores a file, unless the workspace has its bytes or keys do, and returns where
// they are.
func (r *Received) unpackFile(ctx context.Context, f *archive.File, keys map[string]string) (sum, key string, err error) {
	from, err := f.Open()
	if err != nil {
		return "", "", badArchive(err)
	}
	defer func() { _ = from.Close() }()
	c, err := r.add(ctx)
	if err != nil {
		return "", "", err
	}
	source := c.source(ctx, archived{from}, f.Size, func() error {
		return badArchive(&archive.Error{Path: f.Path, Reason: "has more bytes than the archive declares"})
	})
	if err := readAll(ctx, source); err != nil {
		return "", "", source.err
	}
	c.read(source)
	if key, err = r.keyOf(ctx, c.sha256, keys); err != nil {
		return "", "", err
	}
	if key == "" {
		return c.sha256, c.key, c.commit()
	}
	r.drop(c)
	return c.sha256, key, nil
}

// archived is a file of an archive, whose errors are reported to its sender.
type archived struct{ io.Reader }

func (a archived) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = badArchive(err)
	}
	return n, err
}

// keyOf is where bytes are that the workspace or this archive has; "" for others.
func (r *Received) keyOf(ctx context.Context, sum string, keys map[string]string) (string, error) {
	if key := keys[sum]; key != "" {
		return key, nil
	}
	return r.in.key(ctx, r.workspaceID, sum)
}

// mostBlends bounds the .blend files of an archive among which the main one is looked for:
// the libraries of each are followed.
const mostBlends = 32

// chooseMain returns the path of the .blend to render: the one that is asked for, or the
// only one that no other links and that does not lie in a folder from which others link.
// Errors: main_file_ambiguous, unsupported_file, invalid_request.
func chooseMain(ctx context.Context, tree *project.Tree, m project.Manifest, asked string) (string, error) {
	if asked != "" {
		if !slices.ContainsFunc(m.Files, func(f project.File) bool { return f.Path == asked }) {
			return "", fault.Field("body.main", "is %q, which is not the path of a file of the archive", asked)
		}
		return asked, nil
	}
	blends := []string{}
	for _, f := range m.Files {
		if strings.EqualFold(path.Ext(f.Path), contract.InputExtension) {
			blends = append(blends, f.Path)
		}
	}
	candidates := blends
	if len(blends) > 1 && len(blends) <= mostBlends {
		linked := linksOf(ctx, tree, blends)
		candidates = slices.DeleteFunc(slices.Clone(blends), func(at string) bool { return isLinked(at, linked) })
	}
	switch {
	case len(blends) == 0:
		return "", fault.New(fault.UnsupportedFile, "The archive contains no %s file.", contract.InputExtension)
	case len(candidates) == 1:
		return candidates[0], nil
	case len(candidates) == 0: // they link each other in a circle
		candidates = blends
	}
	return "", fault.New(fault.MainFileAmbiguous, "The archive contains %d .blend files, and it is not clear which one to render.", len(candidates)).
		With(map[string][]string{"candidates": candidates[:min(len(candidates), 100)]})
}

// linksOf lists, for each .blend, the libraries in the tree that it comes from. Nothing is
// known of an unreadable one: it stays a candidate, and is refused if it is chosen.
func linksOf(ctx context.Context, tree *project.Tree, blends []string) map[string][]string {
	linked := map[string][]string{}
	for _, from := range blends {
		found, err := scenefiles.Find(ctx, tree, from, scenefiles.Options{MaxBlends: 4 * mostBlends, MaxUnpacked: 4 << 30})
		if err != nil {
			continue
		}
		for i := range found.Files {
			if f := &found.Files[i]; f.Kind == scenefiles.KindLibrary && f.There() && f.Path != from {
				linked[from] = append(linked[from], f.Path)
			}
		}
	}
	return linked
}

// isLinked reports whether another .blend links a file, or links from a folder in which the
// file lies and it does not itself.
func isLinked(at string, linked map[string][]string) bool {
	for from, libraries := range linked {
		if from == at {
			continue
		}
		for _, library := range libraries {
			folder := path.Dir(library) + "/"
			if library == at || strings.HasPrefix(at, folder) && !strings.HasPrefix(from, folder) && folder != "./" {
				return true
			}
		}
	}
	return false
}
