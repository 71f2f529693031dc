// Package proof has the commands that check a service from outside: verify for one
// receipt, log verify for the whole log.
//
// What always holds: verify uses no network; a failed check has an exit code that says
// which one. It leaves the checks themselves to package receipt. Start reading at
// Verify.
package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/work/receipt"
)

// KeyFile is the public key's file beside a receipt that svc render wrote.
const KeyFile = "signing-key.pem"

// ProofFile is the file with the proof that the receipt is in the log.
const ProofFile = "proof.json"

// Verify checks a receipt without a network.
type Verify struct {
	Receipt   string `arg:"" type:"existingfile" help:"The receipt: the signed envelope, or the saved answer of the receipt route."`
	Artifact  string `type:"existingfile" env:"SVC_VERIFY_ARTIFACT" help:"The ZIP. Without it, the ZIP that the receipt names is looked for beside the receipt."`
	PinnedKey string `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The service's public key, PEM, or several of its keys. Without it, signing-key.pem beside the receipt is used, which proves only that the files belong together."`
	Proof     string `type:"existingfile" env:"SVC_VERIFY_PROOF" help:"The proof that the receipt is in the log: the saved answer of the proof route. Without it, proof.json beside the receipt."`
	Known     string `name:"checkpoint" type:"existingfile" env:"SVC_VERIFY_CHECKPOINT" help:"A checkpoint of the log known from elsewhere: the proof must be for it."`
	JSON      bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of lines."`
}

// Help is shown under the flags.
func (Verify) Help() string {
	return "Exit codes: 0 everything that could be checked is right; 1 a file could not be read; 2 wrong usage; " +
		"3 the receipt is not signed by the key or was changed; 4 the ZIP is not the one in the receipt; 5 the receipt is not in the log."
}

// verified is what verify found, in the form of --json.
type verified struct {
	OK       bool            `json:"ok"`
	Receipt  string          `json:"receipt_id"`
	JobID    string          `json:"job_id"`
	KeyID    string          `json:"key_id"`
	KeyFile  string          `json:"key_file"`
	Pinned   bool            `json:"key_pinned"` // false: the key came from beside the receipt
	Artifact string          `json:"artifact"`   // the file that was checked; empty when none was
	Checks   []receipt.Check `json:"checks"`
}

// Run makes the checks and prints each.
func (c *Verify) Run(app *kong.Context) error {
	found, err := c.Check()
	if found == nil {
		return err
	}
	if c.JSON {
		return errors.Join(terminal.PrintJSON(app.Stdout, found), err)
	}
	found.print(app.Stdout)
	return err
}

// Check gives what was found and, where something failed, the error that says
// so with its exit code. Found is nil when nothing could be checked at all.
func (c *Verify) Check() (*verified, error) {
	document, err := os.ReadFile(c.Receipt)
	if err != nil {
		return nil, fmt.Errorf("read the receipt: %w", err)
	}
	found := &verified{KeyFile: c.PinnedKey, Pinned: c.PinnedKey != ""}
	if !found.Pinned {
		found.KeyFile = filepath.Join(filepath.Dir(c.Receipt), KeyFile)
	}
	keys, err := readPublicKeys(found.KeyFile)
	if !found.Pinned && errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.WrongUsagef("there is no %s beside the receipt: give the service's public key with --key", KeyFile)
	}
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
		if err := c.checkLog(&report, keys); err != nil {
			return nil, err
		}
		found.Receipt, found.JobID = report.Receipt.ReceiptID, report.Receipt.JobID
	}
	found.KeyID, found.Checks = report.KeyID, report.Checks
	err = report.Err()
	found.OK = err == nil
	return found, WithExitCode(err)
}

// checkLog looks for the receipt in the log, where there is a proof.
func (c *Verify) checkLog(report *receipt.Report, keys []receipt.PublicKey) error {
	var known []byte
	if c.Known != "" {
		var err error
		if known, err = os.ReadFile(c.Known); err != nil {
			return fmt.Errorf("read the checkpoint: %w", err)
		}
	}
	path := c.Proof
	if path == "" {
		path = filepath.Join(filepath.Dir(c.Receipt), ProofFile)
	}
	text, err := os.ReadFile(path)
	if c.Proof == "" && errors.Is(err, fs.ErrNotExist) {
		if known != nil {
			return terminal.WrongUsagef("a checkpoint alone proves nothing: there is no %s beside the receipt; give it with --proof", ProofFile)
		}
		report.InLog(nil, keys, nil)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the proof: %w", err)
	}
	var proof receipt.Inclusion
	if err := json.Unmarshal(text, &proof); err != nil {
		return terminal.Exit(terminal.ExitNotInLog, fmt.Errorf("%w: %s is no proof: %w", receipt.ErrNotInLog, path, err))
	}
	report.InLog(&proof, keys, known)
	return nil
}

// findArtifact is the ZIP to check: the given one, or the one that the receipt
// names where it lies beside it.
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

// VerifyFile checks a receipt and the ZIP at path.
func VerifyFile(document []byte, keys []receipt.PublicKey, path string) (receipt.Report, error) {
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

func readPublicKeys(path string) ([]receipt.PublicKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	keys, err := receipt.ParsePublicPEMs(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// WithExitCode gives each kind of failed verification its exit code.
func WithExitCode(err error) error {
	switch {
	case errors.Is(err, receipt.ErrBadSignature):
		return terminal.Exit(terminal.ExitBadSignature, err)
	case errors.Is(err, receipt.ErrBadArtifact):
		return terminal.Exit(terminal.ExitBadArtifact, err)
	case errors.Is(err, receipt.ErrNotInLog):
		return terminal.Exit(terminal.ExitNotInLog, err)
	}
	return err
}

func (v *verified) print(w io.Writer) {
	PrintChecks(w, v.Checks)
	if !v.Pinned {
		fmt.Fprintf(w, "key taken from beside the receipt (%s); pin it with --key\n", v.KeyFile)
	}
	if v.OK {
		fmt.Fprintln(w, "receipt verified")
	}
}

// PrintChecks writes one line a check, for people.
func PrintChecks(w io.Writer, checks []receipt.Check) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, check := range checks {
		fmt.Fprintf(table, "%s\t%s\t%s\n", check.Name, check.Status, check.Text)
	}
	table.Flush()
}
