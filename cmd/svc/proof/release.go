package proof

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/release"
)

// verifiedRelease is what verify found of a release, in the form of --json.
type verifiedRelease struct {
	OK      bool            `json:"ok"`
	KeyID   string          `json:"key_id"`
	KeyFile string          `json:"key_file"` // path of the key that was used
	Checks  []receipt.Check `json:"checks"`
}

// runRelease checks a release's list of sums, the signature next to it, and each of
// its files that is there too. The key must be given: anyone who can replace files on
// a download page can put another key next to them.
func (c *Verify) runRelease(app *kong.Context) error {
	if c.PinnedKey == "" {
		return terminal.WrongUsagef("%s is signed with the release's key; give its public key with --key", release.SumsFile)
	}
	if c.Artifact != "" || c.Proof != "" || c.Known != "" {
		return terminal.WrongUsagef("--artifact, --proof and --checkpoint are for a receipt, and %s is a release's list of sums", c.Receipt)
	}
	keys, err := readPublicKeys(c.PinnedKey)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(c.Receipt)
	if err != nil {
		return fmt.Errorf("read the sums: %w", err)
	}
	folder := filepath.Dir(c.Receipt)
	signature, err := os.ReadFile(filepath.Join(folder, release.SignatureFile))
	if errors.Is(err, fs.ErrNotExist) {
		return terminal.WrongUsagef("there is no %s next to the list; download it to the same folder", release.SignatureFile)
	}
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	report := release.Verify(sums, signature, keys, folder)
	found := verifiedRelease{OK: report.Err() == nil, KeyID: report.KeyID, KeyFile: c.PinnedKey, Checks: report.Checks}
	failed := WithExitCode(report.Err())
	if c.JSON {
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, found), failed))
	}
	PrintChecks(app.Stdout, found.Checks)
	if found.OK {
		terminal.Printf(app.Stdout, "release verified")
	}
	return failed
}
