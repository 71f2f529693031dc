// Package proof has the commands that check a service from outside: verify for one
// receipt, or for the files of a release; log verify for the whole log.
//
// What always holds: verify uses no network, but for an address of --keys, and writes nothing; each kind of failed
// check has an exit code of its own; a check that could not be made is reported as
// skipped, never as passed. It leaves the checks themselves to packages receipt and
// release. Start reading at Verify.
package proof

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/witness"
	"svc.example/internal/work/release"
)

// KeyFile is the name of the file with the service's public keys, PEM, that svc render
// writes next to a receipt.
const KeyFile = "signing-key.pem"

// KeysFile is the name of the file with every key of the service and its end, a saved
// response of /v1/signing-keys, that svc render writes next to a receipt.
const KeysFile = "keys.json"

// ReceiptFile is the name of the receipt that svc render writes.
const ReceiptFile = "receipt.json"

// JobFile is the name of the file that makes a folder the folder of one job. svc render notes
// in it what it sent.
const JobFile = "job.json"

// ProofFile is the name of the file with the proof that the receipt is in the log, in
// the form of the API's proof route.
const ProofFile = "proof.json"

// Verify checks a receipt, or a release, without a network, unless --keys is an address. What it does not get by
// flags it looks for next to the receipt, where svc render puts it.
type Verify struct {
	Receipt   string   `arg:"" type:"path" help:"The folder of a render. Or a receipt: the signed envelope, or a saved response of the receipt route. Or the proof of one frame, of svc frame-proof. Or a release's SHA256SUMS, with SHA256SUMS.dsse and the downloaded files next to it."`
	Artifact  string   `type:"existingfile" env:"SVC_VERIFY_ARTIFACT" help:"The ZIP. Default: the file that the receipt names, next to the receipt."`
	PinnedKey string   `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The public key or keys, PEM: the service's, or the release's. Without it and without --keys, keys.json or signing-key.pem next to the receipt."`
	Keys      string   `placeholder:"FILE|URL" env:"SVC_VERIFY_KEYS" help:"All keys of the service with their ends: a saved response of /v1/signing-keys, or its URL, which is the only thing that verify reads from a network. A receipt signed after its key's end is refused."`
	Proof     string   `type:"existingfile" env:"SVC_VERIFY_PROOF" help:"The proof that the receipt is in the log: a saved response of the proof route. Default: proof.json next to the receipt."`
	Known     string   `name:"checkpoint" type:"existingfile" env:"SVC_VERIFY_CHECKPOINT" help:"A checkpoint of the log that you know from elsewhere. The proof must match it."`
	Project   string   `type:"existingdir" env:"SVC_VERIFY_PROJECT" help:"Folder of the project or of the .blend. Its files must equal the rendered ones. Without it, the hash that svc render noted when it sent a project."`
	Frames    string   `name:"frames" type:"existingdir" env:"SVC_VERIFY_FRAMES" help:"Folder with frames, under any names. Each picture must match a frame of the receipt, by its bytes or by its pixels. Without it, the files next to the receipt that have names of its frames."`
	Origins   string   `type:"existingdir" env:"SVC_VERIFY_ORIGINS" help:"Folder of the renders from which the job took frames over: their receipt.json, in it or in its folders. Without it, the receipts that svc render saved in the folder's origins."`
	Witness   []string `placeholder:"KEY,…" env:"SVC_VERIFY_WITNESS" help:"Witnesses that must have co-signed the checkpoint of the proof, each NAME+ID+KEY. A log that shows different histories to different people cannot get these signatures."`
	Require   []string `placeholder:"CHECK,…" env:"SVC_VERIFY_REQUIRE" enum:"artifact,pixels,pictures,log,key,project,reused,witness" help:"Checks that must be made: artifact, pixels, pictures (of --frames), log, key, project, reused (of --origins), witness. A check that could not be made counts as failed."`
	Test      bool     `env:"-" help:"Accept a receipt of test mode. Without this flag such a receipt fails, because nothing was rendered and nobody has paid."`
	JSON      bool     `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of lines."`
}

// Help is printed below the flags.
func (Verify) Help() string {
	return "Makes every check that the given files allow, and lists those that it could not make. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitMissingFiles)
}

// verified is what verify found, in the form of --json.
type verified struct {
	OK       bool            `json:"ok"`
	Receipt  string          `json:"receipt_id"`
	JobID    string          `json:"job_id"`
	KeyID    string          `json:"key_id"`
	KeyFile  string          `json:"key_file"`   // path of the keys that were used
	Pinned   bool            `json:"key_pinned"` // false: the keys were found next to the receipt
	Artifact string          `json:"artifact"`   // path of the ZIP that was checked; "" when none was
	Checks   []receipt.Check `json:"checks"`
	// NotChecked are the names of the checks that were not made. OK does not cover them.
	NotChecked []string `json:"not_checked"`
	// Signed is the receipt, nil unless signature and statement are valid.
	Signed *receipt.Receipt `json:"-"`
}

// Run makes the checks and prints each one, then returns the first failure.
func (c *Verify) Run(app *kong.Context) error {
	if err := c.find(); err != nil {
		return err
	}
	if filepath.Base(c.Receipt) == release.SumsFile {
		return c.runRelease(app)
	}
	switch document, err := os.ReadFile(c.Receipt); {
	case err != nil: // Check says it
	case isFrameProof(document):
		return c.runFrame(app, document)
	case !bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")):
		return terminal.Exit(terminal.ExitBadSignature, fmt.Errorf("%s is not a receipt. Name the receipt.json of a job, or the folder that it is in", c.Receipt))
	}
	found, err := c.Check()
	if found == nil {
		return err
	}
	if c.JSON {
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, found), err))
	}
	found.print(app.Stdout)
	return err
}

// Check makes the checks. When one fails, the error says which, with its exit code, and
// found still has all of them. found is nil when nothing could be checked at all, as
// without a key.
//
// The ZIP is found by the name in the receipt, so the signature is checked first, and
// everything once more together with the ZIP.
func (c *Verify) Check() (*verified, error) {
	document, err := os.ReadFile(c.Receipt)
	if err != nil {
		return nil, fmt.Errorf("read the receipt: %w", err)
	}
	found := &verified{}
	witnesses, err := parseWitnesses(c.Witness)
	if err != nil {
		return nil, err
	}
	history, err := c.history()
	if err != nil {
		return nil, err
	}
	keys, err := c.keys(found, history)
	if err != nil {
		return nil, err
	}
	report := receipt.Verify(document, keys, nil)
	if report.Receipt != nil {
		if found.Artifact = c.findArtifact(*report.Receipt); found.Artifact != "" {
			if report, err = VerifyFile(document, keys, found.Artifact); err != nil {
				return nil, err
			}
		}
		proof, err := c.checkLog(&report, keys)
		if err != nil {
			return nil, err
		}
		report.InTime(history, proof)
		witnessed(&report, witnesses, proof)
		c.checkProject(&report)
		report.InPictures(c.pictures(report.Receipt))
		origins, err := c.origins()
		if err != nil {
			return nil, err
		}
		report.FromOrigins(origins, keys)
		if c.Test {
			report.TakeTest()
		}
		found.Signed = report.Receipt
		found.Receipt, found.JobID = report.Receipt.ReceiptID, report.Receipt.JobID
	}
	found.KeyID, found.Checks = report.KeyID, report.Checks
	found.NotChecked = report.NotChecked()
	if err = report.Err(); err == nil {
		err = c.missing(report)
	}
	found.OK = err == nil
	return found, WithExitCode(err)
}

// origins reads the earlier receipts that svc render keeps next to the receipt, and those
// below --origins.
func (c *Verify) origins() (documents [][]byte, err error) {
	documents, err = receipt.OriginsIn(os.DirFS(filepath.Dir(c.Receipt)))
	if err != nil || c.Origins == "" {
		return documents, err
	}
	files := os.DirFS(c.Origins)
	for _, pattern := range []string{ReceiptFile, "*/" + ReceiptFile} {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("look for receipts: %w", err)
		}
		for _, name := range names {
			document, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, fmt.Errorf("read a receipt: %w", err)
			}
			documents = append(documents, document)
		}
	}
	return documents, nil
}

// witnessed adds the check "witness": that each of the witnesses has co-signed the proof's
// checkpoint. Without any it is skipped where the checkpoint has signatures of others.
func witnessed(report *receipt.Report, witnesses []witness.PublicKey, proof *receipt.Inclusion) {
	switch {
	case len(witnesses) == 0 && (proof == nil || receipt.Signatures(proof.Checkpoint) < 2):
		return
	case len(witnesses) == 0:
		report.Witnessed(receipt.Skipped, "no witness was given: the checkpoint has signatures of others, which are not checked")
		return
	case proof == nil:
		report.Witnessed(receipt.Failed, "no proof was given: there is no checkpoint that a witness could have co-signed")
		return
	}
	var times []string
	for _, w := range witnesses {
		at, err := w.Check([]byte(proof.Checkpoint))
		if err != nil {
			report.Witnessed(receipt.Failed, err.Error())
			return
		}
		times = append(times, w.Name+" at "+at.Format(time.DateTime)+" UTC")
	}
	report.Witnessed(receipt.OK, "co-signed by "+strings.Join(times, ", "))
}

// missing is the error of the checks of --require that were not made.
func (c *Verify) missing(report receipt.Report) error {
	var missing []string
	for _, name := range c.Require {
		made := func(check receipt.Check) bool { return check.Name == name && check.Status == receipt.OK }
		if name == "project" && c.Project == "" {
			made = func(receipt.Check) bool { return false } // the files were not compared
		}
		if !slices.ContainsFunc(report.Checks, made) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return terminal.Exit(terminal.ExitMissingFiles, fmt.Errorf("not checked, although --require asks for it: %s", strings.Join(missing, ", ")))
}

// keys are those that may have signed the receipt and the checkpoint: from --keys,
// from --key, or found next to the receipt. With --keys and --key, both count.
func (c *Verify) keys(found *verified, history receipt.History) ([]signingkey.Public, error) {
	found.Pinned = c.PinnedKey != "" || c.Keys != ""
	switch {
	case c.PinnedKey != "":
		found.KeyFile = c.PinnedKey
	case history != nil:
		found.KeyFile = cmp.Or(c.Keys, c.nextTo(KeysFile))
		return history.Keys(), nil
	default:
		found.KeyFile = c.nextTo(KeyFile)
	}
	keys, err := readPublicKeys(found.KeyFile)
	if !found.Pinned && errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.WrongUsagef("there is no %s next to the receipt; give the service's public key with --key", KeysFile)
	}
	return keys, err
}

// nextTo is a file in the folder of the receipt.
func (c *Verify) nextTo(name string) string { return filepath.Join(filepath.Dir(c.Receipt), name) }

// find puts the receipt of a folder in the folder's place.
func (c *Verify) find() error {
	info, err := os.Stat(c.Receipt)
	if errors.Is(err, fs.ErrNotExist) {
		return terminal.WrongUsagef("there is no file or folder %s", c.Receipt)
	}
	if err != nil || !info.IsDir() {
		return err
	}
	for _, name := range []string{ReceiptFile, release.SumsFile} {
		path := filepath.Join(c.Receipt, name)
		if _, err := os.Stat(path); err == nil {
			c.Receipt = path
			return nil
		}
	}
	return terminal.WrongUsagef("%s has no %s; name the folder of one job, or a receipt", c.Receipt, ReceiptFile)
}

// history reads --keys: a file, or the address of a service's keys. Without it and --key it
// reads the one next to the receipt; nil where there is none.
func (c *Verify) history() (receipt.History, error) {
	from, read := c.Keys, os.ReadFile
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		read = fetchKeys
	}
	if from == "" {
		if from = c.nextTo(KeysFile); c.PinnedKey != "" {
			return nil, nil
		}
	}
	text, err := read(from)
	if c.Keys == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of keys: %w", err)
	}
	history, err := receipt.ParseHistory(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return history, nil
}

const (
	keysTime = 30 * time.Second // to fetch a history of keys
	keysSize = 4 << 20          // bytes; a key takes about 700
)

// fetchKeys reads the published keys of a service.
func fetchKeys(url string) ([]byte, error) {
	response, err := (&http.Client{Timeout: keysTime}).Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return io.ReadAll(io.LimitReader(response.Body, keysSize))
}

// checkLog adds the check that the receipt is in the log. Without any proof the check
// is skipped, but a checkpoint without a proof is a mistake: the person wanted the log
// to be checked. A damaged proof counts as no proof of the log, exit code 5. It returns the
// proof, nil without one.
func (c *Verify) checkLog(report *receipt.Report, keys []signingkey.Public) (*receipt.Inclusion, error) {
	var known []byte
	if c.Known != "" {
		var err error
		if known, err = os.ReadFile(c.Known); err != nil {
			return nil, fmt.Errorf("read the checkpoint: %w", err)
		}
	}
	path := c.Proof
	if path == "" {
		path = filepath.Join(filepath.Dir(c.Receipt), ProofFile)
	}
	text, err := os.ReadFile(path)
	if c.Proof == "" && errors.Is(err, fs.ErrNotExist) {
		if known != nil {
			return nil, terminal.WrongUsagef("--checkpoint needs a proof, and there is no %s next to the receipt; give one with --proof", ProofFile)
		}
		report.InLog(nil, keys, nil)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the proof: %w", err)
	}
	var proof receipt.Inclusion
	if err := json.Unmarshal(text, &proof); err != nil {
		return nil, terminal.Exit(terminal.ExitNotInLog, fmt.Errorf("%w: %s is not a proof: %w", receipt.ErrNotInLog, path, err))
	}
	report.InLog(&proof, keys, known)
	return &proof, nil
}

// checkProject adds the check of the files that were rendered. Without --project it is that
// of their hash, which svc render noted when it sent them.
func (c *Verify) checkProject(report *receipt.Report) {
	if c.Project != "" {
		report.InProject(os.DirFS(c.Project))
		return
	}
	var sent struct {
		ProjectSHA256 string `json:"project_sha256"`
	}
	text, err := os.ReadFile(c.nextTo(JobFile))
	if err == nil && json.Unmarshal(text, &sent) == nil && sent.ProjectSHA256 != "" {
		report.AsSent(sent.ProjectSHA256)
	}
}

// pictures is the folder of --frames. Without it, it is that of the receipt, as far as files
// there have names of its frames; nil where none has.
func (c *Verify) pictures(r *receipt.Receipt) fs.FS {
	if c.Frames != "" {
		return os.DirFS(c.Frames)
	}
	if r == nil {
		return nil
	}
	return receipt.FramesIn(os.DirFS(filepath.Dir(c.Receipt)), *r)
}

// findArtifact returns the path of the ZIP to check: the given one, or otherwise the
// one that the receipt names, if it is next to the receipt. "" means that there is
// none. A name with a folder in it is ignored: a forged receipt must not choose
// files.
func (c *Verify) findArtifact(r receipt.Receipt) string {
	if c.Artifact != "" {
		return c.Artifact
	}
	name := r.Artifact.Filename
	if name == "" || name != filepath.Base(name) {
		return ""
	}
	beside := filepath.Join(filepath.Dir(c.Receipt), name)
	if info, err := os.Stat(beside); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return beside
}

// VerifyFile checks a receipt, an envelope or a saved response, and the ZIP at path. A
// failed check is in the report; an error means that the ZIP could not be opened.
func VerifyFile(document []byte, keys []signingkey.Public, path string) (receipt.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return receipt.Report{}, fmt.Errorf("open the ZIP: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return receipt.Report{}, fmt.Errorf("open the ZIP: %w", err)
	}
	return receipt.Verify(document, keys, io.NewSectionReader(file, 0, info.Size())), nil
}

// readPublicKeys reads one or more keys from a PEM file. The error names the path.
func readPublicKeys(path string) ([]signingkey.Public, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	keys, err := signingkey.ParsePublicPEMs(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// WithExitCode gives each kind of failed verification its exit code. Any other error,
// nil among them, stays as it is.
func WithExitCode(err error) error {
	switch {
	case errors.Is(err, receipt.ErrBadSignature), errors.Is(err, receipt.ErrTestReceipt):
		return terminal.Exit(terminal.ExitBadSignature, err)
	case errors.Is(err, receipt.ErrBadArtifact), errors.Is(err, client.ErrDownloadChanged):
		return terminal.Exit(terminal.ExitBadArtifact, err)
	case errors.Is(err, receipt.ErrNotInLog):
		return terminal.Exit(terminal.ExitNotInLog, err)
	}
	return err
}

// print writes the checks for people.
func (v *verified) print(w io.Writer) {
	PrintChecks(w, v.Checks)
	v.conclude(w, "receipt")
}

// conclude writes the lines below the checks of a thing. It says when the keys come from the
// same folder: anyone who can forge the receipt can also put keys there. docs/verify.md tells
// how to compare them with the service's own.
func (v *verified) conclude(w io.Writer, thing string) {
	if len(v.NotChecked) > 0 {
		terminal.Printf(w, "NOT CHECKED: %s", strings.Join(v.NotChecked, ", "))
	}
	if !v.OK {
		return
	}
	text := thing + " verified"
	if !v.Pinned {
		text += " with " + filepath.Base(v.KeyFile) + " from the same folder"
	}
	if len(v.NotChecked) > 0 {
		text += ", as far as it was checked"
	}
	terminal.Printf(w, "%s", text)
}

// PrintChecks writes one line per check, for people: name, status, finding.
func PrintChecks(w io.Writer, checks []receipt.Check) {
	table := terminal.NewTable(w)
	for _, check := range checks {
		status := string(check.Status)
		if check.Status == receipt.Skipped {
			status = "NOT CHECKED"
		}
		table.Row(check.Name, status, check.Text)
	}
	_ = table.Flush() // a closed standard output has no reader
}
