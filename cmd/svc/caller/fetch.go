package caller

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/receipt"
)

// Names in a job's folder, in addition to those of package proof.
const (
	checkpointFile = "checkpoint"
	sheetFile      = "contact-sheet.jpg"
	loopFile       = "loop.webp"
)

// fetch downloads, verifies and unpacks a completed job into r.Folder.
//
// A receipt can be valid and still belong to another job or file. So its job, and the
// hashes of its input that are known here, must be the ones that were asked for.
func (r *Result) fetch(ctx context.Context, o Options, job *client.Job, ordered *jobFile) error {
	if err := r.download(ctx, o); err != nil {
		return err
	}
	signed, err := r.verify(ctx, o)
	if err != nil {
		return err
	}
	other := func(known, signed string) bool { return known != "" && known != signed }
	if signed.JobID != job.JobID || other(ordered.InputSHA256, signed.Input.SHA256) || other(ordered.ProjectSHA256, signed.Input.ProjectSHA256) {
		return fmt.Errorf("%w: it is the receipt of job %s over input %s", receipt.ErrBadSignature, signed.JobID, signed.Input.SHA256)
	}
	r.take(signed)
	if err := r.unpack(ctx, signed.Frames); err != nil {
		return err
	}
	r.fetchOverviews(ctx, o, job)
	r.Movie = saveMovie(ctx, o.Client, o.Display, job, r.Folder)
	return nil
}

// take fills in what a verified receipt says.
func (r *Result) take(signed *receipt.Receipt) {
	r.ReceiptID, r.ChargedCents, r.Currency, r.SHA256 = signed.ReceiptID, signed.ChargedCents, signed.Currency, signed.Artifact.SHA256
	r.ElapsedSeconds = signed.CompletedAt.Sub(signed.StartedAt).Seconds()
	r.Renderer, r.Test = signed.Renderer.Application, signed.Test
	r.RenderDevice, r.DeviceName, r.Version, r.Switched = signed.RenderDevice, signed.DeviceName, signed.Renderer.Version, signed.Switched
	looks, reused := make([]framecheck.AcceptedFrame, len(signed.Frames)), 0
	r.OutputCount = 0
	for i, f := range signed.Frames {
		r.OutputCount += len(f.Outputs)
		looks[i] = framecheck.AcceptedFrame{Frame: f.Frame, Finding: f.Finding, PixelSHA256: f.PixelSHA256}
		if f.Reused != (receipt.Origin{}) {
			reused++
		}
	}
	r.ReusedCount = reused
	r.Findings = framecheck.Find(looks, true)
}

// download fetches the ZIP. The file name comes from the service and must be a plain
// name: with a folder in it, it could write outside of r.Folder.
func (r *Result) download(ctx context.Context, o Options) error {
	artifact, err := o.Client.Artifact(ctx, r.JobID)
	if err != nil {
		return err
	}
	if artifact.Filename == "" || artifact.Filename != filepath.Base(artifact.Filename) {
		return fmt.Errorf("the service names the ZIP %q, which is not a file name", artifact.Filename)
	}
	r.ZIP = filepath.Join(r.Folder, artifact.Filename)
	meter := o.Display.Meter("download", terminal.InBytes)
	defer meter.End()
	_, err = o.Client.Download(ctx, r.JobID, r.ZIP, meter.Move)
	return err
}

// given is what a service says about a completed job.
type given struct {
	receipt *client.Receipt
	origins map[string]*client.Receipt // that frames were taken over from, by id
	logged  *client.Proof
	history []client.SigningKey
	keys    []signingkey.Public // of history
}

// fetchProof reads the receipt of a job, its proof and the service's keys.
func fetchProof(ctx context.Context, api *client.Client, jobID string) (g given, err error) {
	if g.receipt, err = api.Receipt(ctx, jobID); err != nil {
		return g, err
	}
	if g.origins, err = api.EarlierReceipts(ctx, g.receipt); err != nil {
		return g, err
	}
	if g.logged, err = api.Proof(ctx, jobID); err != nil {
		return g, err
	}
	if g.history, err = api.SigningKeys(ctx); err != nil { // last, so that a key rotated just now is among them
		return g, err
	}
	g.keys, err = proof.PublicKeys(g.history)
	return g, err
}

// verify fetches the receipt, its proof and the service's keys, checks all of them
// and the ZIP in the same way as svc verify, and stores them next to the ZIP for later.
// Checks is set whether or not they pass.
func (r *Result) verify(ctx context.Context, o Options) (*receipt.Receipt, error) {
	given, err := fetchProof(ctx, o.Client, r.JobID)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(given.receipt)
	if err != nil {
		return nil, fmt.Errorf("read the receipt: %w", err)
	}
	report, err := proof.VerifyFile(document, given.keys, r.ZIP)
	if err != nil {
		return nil, err
	}
	logged := given.logged
	report.InLog(&receipt.Inclusion{LogIndex: logged.LogIndex, InclusionProof: logged.InclusionProof, Checkpoint: logged.Checkpoint}, given.keys, nil)
	if o.Client.TestMode() {
		report.TakeTest()
	}
	var origins [][]byte
	for _, earlier := range given.origins {
		origins = append(origins, earlier.Envelope)
	}
	report.FromOrigins(origins, given.keys)
	r.Checks = report.Checks
	if err := report.Err(); err != nil {
		return nil, err
	}
	return report.Receipt, r.keep(given)
}

// keep writes the files that svc verify needs: the receipt, its proof and all keys of
// the service with their ends, because receipt and checkpoint may be signed by different
// ones. The keys alone and the checkpoint also get files of their own, for other tools. Each file appears whole or
// not at all.
func (r *Result) keep(given given) error {
	logText, err := json.MarshalIndent(given.logged, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the proof: %w", err)
	}
	history, err := json.MarshalIndent(map[string]any{"ok": true, "keys": given.history}, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the proof: %w", err)
	}
	var public []byte
	for _, key := range given.keys {
		text, err := key.PEM()
		if err != nil {
			return err
		}
		public = append(public, text...)
	}
	for id, earlier := range given.origins {
		path := filepath.Join(r.Folder, filepath.FromSlash(receipt.OriginFile(id)))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), atomicfile.Replace(path, append(earlier.Envelope, '\n'), 0o644)); err != nil {
			return fmt.Errorf("keep an earlier receipt: %w", err)
		}
	}
	for _, file := range []struct {
		path    *string
		name    string
		content []byte
	}{
		{&r.Receipt, proof.ReceiptFile, append(given.receipt.Envelope, '\n')},
		{&r.Proof, proof.ProofFile, append(logText, '\n')},
		{&r.Checkpoint, checkpointFile, []byte(given.logged.Checkpoint)},
		{&r.SigningKey, proof.KeyFile, public},
		{&r.Keys, proof.KeysFile, append(history, '\n')},
	} {
		*file.path = filepath.Join(r.Folder, file.name)
		if err := atomicfile.Replace(*file.path, file.content, 0o644); err != nil {
			return fmt.Errorf("keep the proof: %w", err)
		}
	}
	return nil
}

// unpack writes the frames of a verified ZIP, in the receipt's order. Verification has
// shown that the ZIP has exactly these entries and that no name contains a folder. A
// frame that is there already, whole, stays as it is.
func (r *Result) unpack(ctx context.Context, frames []receipt.Frame) error {
	archive, err := zip.OpenReader(r.ZIP)
	if err != nil {
		return fmt.Errorf("unpack the frames: %w", err)
	}
	defer archive.Close()
	for _, frame := range frames {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(r.Folder, frame.File)
		if sum, err := digest.OfFile(path); err != nil || sum != frame.SHA256 {
			if err := unpackFrame(&archive.Reader, receipt.FrameEntry(frame.File), path); err != nil {
				return fmt.Errorf("unpack frame %d: %w", frame.Frame, err)
			}
		}
		r.Frames = append(r.Frames, path)
	}
	return nil
}

// unpackFrame writes one entry of the ZIP to path, in place of what is there. The frame
// gets its name only when it is complete, so a killed command leaves no partial picture
// that looks complete.
func unpackFrame(archive *zip.Reader, entry, path string) error {
	from, err := archive.Open(entry)
	if err != nil {
		return err
	}
	defer from.Close()
	part := path + ".part"
	to, err := os.Create(part)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	// The error of Close counts: a full disk may show only then.
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}

// readKept fills in the result of a job that was fetched before, without the service:
// it makes the checks of svc verify over what is in the folder. Any error means that
// something is missing or changed, so that the job has to be fetched again.
func (r *Result) readKept(j *jobFile) error {
	kept := *r
	kept.Receipt, kept.Proof = filepath.Join(j.folder, proof.ReceiptFile), filepath.Join(j.folder, proof.ProofFile)
	kept.Checkpoint, kept.SigningKey = filepath.Join(j.folder, checkpointFile), filepath.Join(j.folder, proof.KeyFile)
	kept.Keys = filepath.Join(j.folder, proof.KeysFile)
	for _, path := range []string{kept.Proof, kept.Keys} {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	found, err := (&proof.Verify{Receipt: kept.Receipt}).Check()
	if err != nil {
		return err
	}
	signed := found.Signed
	if signed.JobID != j.JobID || found.Artifact == "" {
		return errors.New("the folder has another job's receipt, or no ZIP")
	}
	kept.ZIP, kept.Checks = found.Artifact, found.Checks
	kept.take(signed)
	for _, frame := range signed.Frames { // what is here was checked
		path := filepath.Join(j.folder, frame.File)
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("frame %d is missing: %w", frame.Frame, err)
		}
		kept.Frames = append(kept.Frames, path)
	}
	kept.ContactSheet, kept.Loop = existing(j.folder, sheetFile), existing(j.folder, loopFile)
	kept.Movie = existing(j.folder, client.MovieFile)
	*r = kept
	return nil
}
