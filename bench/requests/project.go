package requests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
)

// Rows of a scene that is sent with its files.
const (
	rowSend         = "project/2 GiB to locked quote"
	rowAgain        = "project/again with one file changed"
	rowServerMemory = "project/peak memory growth of the server"
	rowClientMemory = "project/peak memory growth of the client"
	rowTiny         = "project/files of 10 bytes"
)

const (
	largeFiles = 64 // of a part each, 2 GiB together
	tinyFiles  = 9_999
)

// Project measures PUT /node/v1/parts and POST /node/v1/projects on a service that runs as a
// process of its own, with the client of this repository in this process.
func Project() rounds.Group {
	const copied = "cp and sha256sum of the files"
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowSend, Unit: rounds.Duration, Baseline: copied, Goal: rounds.RatioAtMost(2.5), Note: "64 files of 32 MiB: hashed, sent over loopback HTTP, hashed and fsynced"},
			{Name: rowAgain, Unit: rounds.Duration, Baseline: "the first send", Goal: rounds.RatioAtMost(0.2), Note: "all files are hashed, one is sent"},
			{Name: rowServerMemory, Unit: rounds.Size, Baseline: "the idle server", Goal: rounds.Under(64e6, rounds.Size).Always(), Note: "VmHWM over what was resident before"},
			{Name: rowClientMemory, Unit: rounds.Size, Baseline: "the idle client", Goal: rounds.Under(64e6, rounds.Size).Always(), Note: "likewise"},
			{Name: rowTiny, Unit: rounds.PerSecond, Baseline: "bare net/http, a file and fsync each", Goal: rounds.Over(500, rounds.PerSecond), Note: "10,000 files, four at once; the quote included"},
		},
		Measure: measureProject,
	}
}

func measureProject(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	large, err := largeProject(b)
	if err != nil {
		return err
	}
	// No bound but the disk's: each round sends other bytes.
	s, err := startServer(ctx, b, "--unstarted-storage", "1TiB", "--rate-per-minute", "0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	round := 0
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		round++
		if err := large.change(round, largeFiles); err != nil {
			return err
		}
		var first, copied float64
		err := b.Turns(func() (err error) {
			first, err = s.sendLarge(ctx, large, r)
			return err
		}, func() (err error) {
			copied, err = large.copyAndSum(ctx)
			return err
		})
		if err != nil {
			return err
		}
		r.Add(rowSend, first, copied)
		if err := large.change(-round, 1); err != nil {
			return err
		}
		again, err := s.send(ctx, large.folder, large.paths)
		if err != nil {
			return err
		}
		r.Add(rowAgain, again, first)
		return s.sendTiny(ctx, b, round, r)
	})
}

// project is a folder with a scene and its files.
type project struct {
	folder string
	paths  []string // the scene first
}

const sceneName = "scene.blend"

// newProject makes a folder with a scene.
func newProject(b *rounds.Run) (p project, err error) {
	if p.folder, err = b.Dir("project-"); err != nil {
		return p, err
	}
	p.paths = []string{sceneName}
	return p, os.WriteFile(filepath.Join(p.folder, sceneName), demo.Scene(), 0o600)
}

// largeProject has files that no compression makes smaller.
func largeProject(b *rounds.Run) (project, error) {
	p, err := newProject(b)
	b.Say("making 2 GiB of files")
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, contract.MaxPartBytes)
	for i := range largeFiles {
		_, _ = random.Read(content) // it has no error
		name := fmt.Sprintf("cache_%02d.bin", i)
		p.paths = append(p.paths, name)
		err = errors.Join(err, os.WriteFile(filepath.Join(p.folder, name), content, 0o600))
	}
	return p, err
}

// change gives the first files another beginning.
func (p project) change(seed, files int) error {
	for _, name := range p.paths[1 : 1+files] {
		file, err := os.OpenFile(filepath.Join(p.folder, name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(file, "%16d", seed)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// copyAndSum copies the folder and hashes the copy, by standard programs.
func (p project) copyAndSum(ctx context.Context) (float64, error) {
	to := p.folder + "-copy"
	defer func() { _ = os.RemoveAll(to) }()
	began := time.Now()
	if out, err := exec.CommandContext(ctx, "cp", "-r", p.folder, to).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cp: %w: %s", err, out)
	}
	sums := exec.CommandContext(ctx, "sha256sum", p.paths...)
	sums.Dir = to
	if out, err := sums.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("sha256sum: %w: %s", err, out)
	}
	return time.Since(began).Seconds(), nil
}

// send sends a project and returns the seconds to its quote.
func (s *server) send(ctx context.Context, folder string, paths []string) (float64, error) {
	began := time.Now()
	p, err := client.ListProject(ctx, os.DirFS(folder), sceneName, paths, nil)
	if err != nil {
		return 0, err
	}
	_, err = s.client.InspectProject(ctx, client.ProjectRequest{Project: p})
	return time.Since(began).Seconds(), err
}

// sendLarge is send with the memory of both sides.
func (s *server) sendLarge(ctx context.Context, p project, r rounds.Record) (took float64, err error) {
	sides := []struct {
		row  string
		pid  int
		idle float64
	}{{row: rowServerMemory, pid: s.pid()}, {row: rowClientMemory, pid: os.Getpid()}}
	for i := range sides {
		if sides[i].idle, err = rounds.ResetMemory(sides[i].pid); err != nil {
			return 0, err
		}
	}
	if took, err = s.send(ctx, p.folder, p.paths); err != nil {
		return 0, err
	}
	for _, side := range sides {
		peak, err := rounds.Memory(side.pid, "VmHWM")
		if err != nil {
			return 0, err
		}
		r.Add(side.row, peak-side.idle, side.idle)
	}
	return took, nil
}

// sendTiny sends many small files, and posts as many to a server that only stores them.
func (s *server) sendTiny(ctx context.Context, b *rounds.Run, round int, r rounds.Record) error {
	p, err := newProject(b)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(p.folder) }()
	for i := range tinyFiles {
		name := fmt.Sprintf("tile_%05d.bin", i)
		p.paths = append(p.paths, name)
		if err := os.WriteFile(filepath.Join(p.folder, name), fmt.Appendf(nil, "%05d%05d", round, i), 0o600); err != nil {
			return err
		}
	}
	var took, bare float64
	err = b.Turns(func() (err error) {
		took, err = s.send(ctx, p.folder, p.paths)
		return err
	}, func() (err error) {
		bare, err = storeBare(ctx, b, p)
		return err
	})
	if err == nil {
		r.Add(rowTiny, float64(len(p.paths))/took, float64(len(p.paths))/bare)
	}
	return err
}

// storeBare puts files, four at once, to a server of net/http that hashes each into a file
// and syncs it, and returns the seconds that it took.
func storeBare(ctx context.Context, b *rounds.Run, p project) (float64, error) {
	store, err := b.Dir("bare-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(store) }()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := os.CreateTemp(store, "part-")
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		sum := sha256.New()
		_, err = io.Copy(io.MultiWriter(file, sum), r.Body)
		if err := errors.Join(err, file.Sync(), file.Close(), os.Rename(file.Name(), filepath.Join(store, hex.EncodeToString(sum.Sum(nil))))); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer bare.Close()
	began := time.Now()
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(4)
	for _, name := range p.paths {
		all.Go(func() error {
			file, err := os.Open(filepath.Join(p.folder, name))
			if err != nil {
				return err
			}
			put, err := http.NewRequestWithContext(ctx, http.MethodPut, bare.URL, file) // the transport closes the file
			if err != nil {
				return errors.Join(err, file.Close())
			}
			answer, err := bare.Client().Do(put)
			if err != nil {
				return err
			}
			if answer.StatusCode != http.StatusOK {
				err = fmt.Errorf("the bare server answered %s", answer.Status)
			}
			return errors.Join(err, answer.Body.Close())
		})
	}
	err = all.Wait()
	return time.Since(began).Seconds(), err
}
