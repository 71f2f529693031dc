package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/work/receipt"
)

// FrameProof takes the proof of one frame out of a receipt, for someone who must not see
// the others.
type FrameProof struct {
	Receipt string `arg:"" type:"existingfile" help:"The receipt: the signed envelope, or a saved response of the receipt route."`
	Frame   int    `arg:"" help:"The frame's number."`
	Out     string `short:"o" required:"" type:"path" placeholder:"FILE" help:"File to write the proof to."`
	Key     string `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The service's public keys, PEM. Without it, keys.json or signing-key.pem next to the receipt."`
}

// Help is printed below the flags.
func (FrameProof) Help() string {
	return "The proof has the frame's number, hashes and time, the job, and its number of frames. Other frames appear only as hashes. Verify the proof with svc verify FILE, and the picture with --frames. " +
		terminal.ExitHelp(terminal.ExitBadSignature)
}

// Run verifies the receipt first: a proof of a forged one would only fail later.
func (c *FrameProof) Run(k *kong.Context) error {
	document, err := os.ReadFile(c.Receipt)
	if err != nil {
		return fmt.Errorf("read the receipt: %w", err)
	}
	v := Verify{Receipt: c.Receipt, PinnedKey: c.Key}
	history, err := v.history()
	if err != nil {
		return err
	}
	keys, err := v.keys(&verified{}, history)
	if err != nil {
		return err
	}
	report := receipt.Verify(document, keys, nil)
	if report.Receipt == nil || report.Receipt.Test {
		return WithExitCode(report.Err())
	}
	proof, err := receipt.ProveFrame(*report.Receipt, c.Frame)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := terminal.PrintJSON(&text, proof); err != nil {
		return err
	}
	if err := atomicfile.Replace(c.Out, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the proof: %w", err)
	}
	terminal.Printf(k.Stdout, "%s proves frame %d of receipt %s", c.Out, c.Frame, report.Receipt.ReceiptID)
	return nil
}

// isFrameProof reports whether a document is the proof of one frame.
func isFrameProof(document []byte) bool {
	var found struct {
		FrameSet json.RawMessage `json:"frame_set"`
		Path     json.RawMessage `json:"path"`
	}
	return json.Unmarshal(document, &found) == nil && found.FrameSet != nil && found.Path != nil
}

// verifiedFrame is what verify found of the proof of one frame, in the form of --json.
type verifiedFrame struct {
	OK         bool            `json:"ok"`
	Frame      int             `json:"frame"`
	KeyID      string          `json:"key_id"`
	KeyFile    string          `json:"key_file"`
	Pinned     bool            `json:"key_pinned"`
	Checks     []receipt.Check `json:"checks"`
	NotChecked []string        `json:"not_checked"`
}

// runFrame verifies the proof of one frame.
func (c *Verify) runFrame(app *kong.Context, document []byte) error {
	history, err := c.history()
	if err != nil {
		return err
	}
	found := &verified{}
	keys, err := c.keys(found, history)
	if err != nil {
		return err
	}
	report, proof := receipt.VerifyFrame(document, keys, history, c.pictures(nil))
	failed := report.Err()
	if failed == nil {
		failed = c.missing(report)
	}
	failed = WithExitCode(failed)
	if c.JSON {
		shown := verifiedFrame{failed == nil, proof.Frame.Frame, report.KeyID, found.KeyFile, found.Pinned, report.Checks, report.NotChecked()}
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, shown), failed))
	}
	PrintChecks(app.Stdout, report.Checks)
	found.NotChecked, found.OK = report.NotChecked(), failed == nil
	found.conclude(app.Stdout, "frame")
	return failed
}
