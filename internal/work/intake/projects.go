package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// maxProjects bounds the projects that a process inspects at once: each is read as a whole.
const maxProjects = 4

// ReceiveProject inspects a project whose parts the workspace has sent (decisions 16), to be
// rendered with settings. End it with Quote or Abort. Errors: those of project.Listing,
// parts_missing, of Choose, and of Receive those that are about the .blend, for the main file
// and libraries that the picture needs.
func (in *Intake) ReceiveProject(ctx context.Context, workspaceID string, l project.Listing, s settings.Settings) (*Received, error) {
	if err := l.Check(in.projectSize()); err != nil {
		return nil, err
	}
	leave, err := in.enterProject(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	defer leave()
	var has map[string]project.Content
	err = in.DB.Read(ctx, func(tx *db.Tx) error {
		var lacks []string
		has, lacks, err = project.Stored(ctx, tx, workspaceID, l.Parts())
		if err == nil && len(lacks) > 0 {
			err = partsMissing(lacks)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for sum, c := range has {
		keys[sum] = c.BlobKey
	}
	m, err := l.Manifest(has, func(f project.File) (string, error) {
		return hashIn(ctx, project.NewTree(ctx, in.Blobs, project.Manifest{Files: []project.File{f}}, keys), f.Path)
	})
	if err != nil {
		return nil, gone(err)
	}
	r := &Received{draft: in.beginKnown(workspaceID), uploadID: id.New(id.Upload), manifest: m, later: true}
	if err := r.inspectProject(ctx, project.NewTree(ctx, in.Blobs, m, keys)); err != nil {
		return r, gone(err)
	}
	return r, gone(r.Choose(ctx, s))
}

// enterProject waits for one of maxProjects places, of which a workspace has a share. Call
// leave to give it back.
func (in *Intake) enterProject(ctx context.Context, workspaceID string) (leave func(), err error) {
	return in.places().projects.Enter(ctx, workspaceID)
}

// projectSize is ProjectSize with its default.
func (in *Intake) projectSize() int64 { return cmp.Or(in.ProjectSize, contract.ProjectSize) }

func partsMissing(lacks []string) error {
	return fault.New(fault.PartsMissing, "%d parts of the project are missing.", len(lacks)).With(map[string][]string{"missing": lacks})
}

// gone is the error of a part that was removed while its project was read.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "A part was removed while the project was being read.").WithAction("Send the project again; the answer lists the missing parts.").Wrap(err)
	}
	return err
}

// hashIn is the SHA-256 of a file of a tree.
func hashIn(ctx context.Context, tree fs.FS, path string) (sum string, err error) {
	f, err := tree.Open(path)
	if err != nil {
		return "", err
	}
	ratelimit.Work(ctx, func() { sum, err = digest.Of(f) })
	return sum, errors.Join(err, f.Close())
}

// inspectProject reads the main file and the libraries of it, and looks for all files that
// the scene needs. The project's content is stored, or committed.
func (r *Received) inspectProject(ctx context.Context, tree fs.FS) error {
	main := r.manifest.MainFile()
	name, err := CleanName(r.manifest.Name())
	if err == nil && name != r.manifest.Name() {
		err = fault.New(fault.UnsupportedFile, "The main file's name %q begins or ends with a space, or contains characters that are not text.", r.manifest.Name())
	}
	if err != nil {
		return err
	}
	r.filename, r.sha256, r.size = name, main.SHA256, main.SizeBytes
	var whole bool
	r.scene, err = r.in.sceneOfProject(ctx, tree, main.Path, settings.Settings{}, r.renderable, func(found *scenefiles.Found) { whole = r.manifest.SetAliases(found.Aliases) })
	if err != nil {
		return err
	}
	r.scene.FilesPartial = r.scene.FilesPartial || !whole
	r.again = func(ctx context.Context, s settings.Settings) (quote.Scene, error) {
		return r.in.sceneOfProject(ctx, tree, main.Path, s, r.in.renderableFor(r.workspaceID), func(*scenefiles.Found) {})
	}
	return nil
}

// sceneOfProject reads the scene of a project that is rendered with settings. found gets what
// was found in the tree. Errors: those of ReceiveProject that are about files or settings.
func (in *Intake) sceneOfProject(ctx context.Context, tree fs.FS, main string, s settings.Settings,
	renderable func(context.Context, *blendfile.Facts) error, tell func(*scenefiles.Found)) (scene quote.Scene, err error) {
	options := scenefiles.Options{Memory: in.Memory, Settings: s}
	var facts *blendfile.Facts
	ratelimit.Work(ctx, func() {
		if facts, err = in.factsIn(tree, main, s); err == nil {
			err = scenefiles.ActiveScene(ctx, tree, main, facts, options)
		}
	})
	if err != nil {
		return scene, inspection.Refusal(err)
	}
	if err := renderable(ctx, facts); err != nil {
		return scene, err
	}
	scene = inspection.SceneOf(facts, path.Base(main))
	var found *scenefiles.Found
	ratelimit.Work(ctx, func() { found, err = scenefiles.Find(ctx, tree, main, options) })
	if err != nil {
		return scene, inspection.Refusal(err)
	}
	for _, f := range found.Files {
		if f.Problem != "" && len(f.Unreadable) == 0 && f.Reach == scenefiles.ReachNeeded {
			return scene, fault.New(fault.FileDamaged, "The library %q cannot be read: %s.", f.Path, f.Problem).With(map[string]string{"path": f.Path})
		}
	}
	inspection.PutFiles(&scene, found)
	tell(found)
	return scene, nil
}

// factsIn reads a .blend of a tree.
func (in *Intake) factsIn(tree fs.FS, path string, s settings.Settings) (*blendfile.Facts, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	return blendfile.InspectAs(f, blendfile.Options{Memory: in.Memory}, s)
}
