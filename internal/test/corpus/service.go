package corpus

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// service is the whole service, with workers as they are told.
type service struct {
	cfg    Config
	folder string
	app    *app.App
	client *client.Client
	url    string
	log    *slog.Logger
	cancel context.CancelFunc
	served chan error
	count  atomic.Int64 // of folders and names
}

// credit pays for any corpus, in cents.
const credit = 10_000_000

// leaseLife is longer than a busy machine delays a heartbeat, and short, because the
// frames of a killed worker wait for its end.
const leaseLife = 20 * time.Second

// openService starts a service without workers. End it with stop.
func openService(ctx context.Context, c Config, folder string) (*service, error) {
	s := &service{cfg: c, folder: folder, served: make(chan error, 1)}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "service.log"))
	if err != nil {
		return nil, err
	}
	s.log = slog.New(slog.NewTextHandler(log, nil))
	listening := make(chan string, 1)
	s.app, err = app.Open(ctx, app.Config{
		Listen: "127.0.0.1:0", Data: filepath.Join(folder, "data"), LeaseLife: leaseLife, Log: s.log, Announce: func(url string) { listening <- url },
	})
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	go func() { s.served <- s.app.Serve(serving) }()
	select {
	case s.url = <-listening:
	case err := <-s.served:
		cancel()
		return nil, errors.Join(fmt.Errorf("the service did not start: %w", err), s.app.Close())
	}
	key, err := s.workspace(ctx)
	if err == nil {
		s.client, err = client.New(s.url, key)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// stop ends the service, audits what it leaves and closes its stores.
func (s *service) stop() error {
	s.cancel()
	err := <-s.served
	found, auditErr := s.app.Audit(context.Background())
	for _, b := range found.Breaches {
		err = errors.Join(err, fmt.Errorf("breach of %q at %s: %s", b.Rule, b.Subject, b.Detail))
	}
	return errors.Join(err, auditErr, s.app.Close())
}

func (s *service) workspace(ctx context.Context) (agentKey string, err error) {
	err = s.app.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "corpus@localhost")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "corpus"})
		if err != nil {
			return err
		}
		agentKey = key.Secret
		return wallet.Credit(ctx, tx, p.WorkspaceID, "corpus", credit)
	})
	return agentKey, err
}

func (s *service) nodeKey(ctx context.Context, name string) (secret string, err error) {
	err = s.app.DB.Write(ctx, func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, name)
		secret = key.Secret
		return err
	})
	return secret, err
}

// place makes a new folder.
func (s *service) place(name string) (string, error) {
	folder := filepath.Join(s.folder, fmt.Sprintf("%s-%d", name, s.count.Add(1)))
	return folder, os.MkdirAll(folder, 0o700)
}

// worker runs a worker in this process until stop, which waits for it.
func (s *service) worker(ctx context.Context) (stop func() error, err error) {
	key, err := s.nodeKey(ctx, "one")
	if err != nil {
		return nil, err
	}
	work, err := s.place("worker")
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- worker.New(s.cfg.worker(s.url, key, "one", work, s.log)).Run(running) }()
	return func() error { cancel(); return <-ended }, nil
}

// worker is the configuration of a worker of these comparisons: on the processor, with
// any version of Blender.
func (c Config) worker(url, key, name, work string, log *slog.Logger) worker.Config {
	return worker.Config{
		Farm: farmapi.NewClient(url, key), Renderer: worker.Blender{Path: c.Blender, Sandbox: c.Sandbox, Threads: c.Threads},
		WorkDir: work, Name: name, Log: log, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true,
	}
}

// upload sends a scene, with its files where it has a root, and returns what the service
// says of it.
func (s *service) upload(ctx context.Context, scene Scene) (*client.Quote, error) {
	if scene.Root != "" {
		return s.uploadProject(ctx, scene)
	}
	file, err := os.Open(scene.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return s.client.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(scene.File), Body: file})
}

// uploadProject sends the files that the finder finds.
func (s *service) uploadProject(ctx context.Context, scene Scene) (*client.Quote, error) {
	disk, err := scenefiles.OpenDisk(scene.File, scene.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = disk.Close() }()
	found, err := disk.Find(ctx, scenefiles.Options{})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range found.Taken(0) {
		paths = append(paths, f.Path)
	}
	p, err := client.ListProject(ctx, disk.Tree, disk.Main, paths, nil)
	if err != nil {
		return nil, err
	}
	return s.client.InspectProject(ctx, client.ProjectRequest{Project: p})
}

// render orders a quote, waits for the job and returns its pictures. A failed job is an
// error.
func (s *service) render(ctx context.Context, quote *client.Quote) (pictures, error) {
	job, err := s.client.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		return nil, err
	}
	if job, err = s.client.Wait(ctx, job.JobID, nil); err != nil {
		return nil, err
	}
	if job.Status != client.StatusCompleted {
		return nil, fmt.Errorf("the job ended as %s: %s", job.Status, job.Failure.Message)
	}
	folder, err := s.place("job")
	if err != nil {
		return nil, err
	}
	archive := filepath.Join(folder, "job.zip")
	if _, err := s.client.Download(ctx, job.JobID, archive, nil); err != nil {
		return nil, err
	}
	if err := unpack(archive, folder); err != nil {
		return nil, err
	}
	return written(folder)
}

// unpack writes what a job's ZIP holds into a folder: pictures with all views of each next to one
// another, and what nodes wrote below outputs.
func unpack(archive, folder string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for _, f := range r.File {
		to := filepath.Join(folder, filepath.FromSlash(f.Name))
		if dir, base := path.Split(f.Name); dir == "output/" || isView(f.Name) {
			to = filepath.Join(folder, base)
		}
		if err := unpackFile(f, to); err != nil {
			return err
		}
	}
	return nil
}

// isView reports whether an entry of a ZIP is a view or a preview, which has its picture's name.
func isView(entry string) bool {
	name, below := strings.CutPrefix(entry, "outputs/")
	return below && frameFile.MatchString(name)
}

// written reads which files an unpacked ZIP has for each frame.
func written(folder string) (pictures, error) {
	found, err := picturesIn(folder)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, receipt.ManifestEntry))
	if err != nil {
		return nil, err
	}
	var m receipt.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	for _, f := range m.Frames {
		for _, o := range f.Outputs {
			if entry := receipt.OutputEntry(o.Name); !isView(entry) {
				found[f.Frame] = append(found[f.Frame], picture{path: filepath.Join(folder, filepath.FromSlash(entry)), name: o.Name})
			}
		}
	}
	return found, nil
}

func unpackFile(f *zip.File, to string) (err error) {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
