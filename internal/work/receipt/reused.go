package receipt

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"svc.example/internal/ground/signingkey"
)

// consistentOrigin checks that a frame that was taken over says so without contradiction: its
// origin was logged before this receipt, and nobody rendered it for this job.
func (r Receipt) consistentOrigin(f Frame) error {
	switch o := f.Reused; {
	case o == (Origin{}):
		return nil
	case !strings.HasPrefix(o.ReceiptID, "RCT-") || o.ReceiptID == r.ReceiptID || o.LogIndex < 0 || r.LogIndex != nil && o.LogIndex >= *r.LogIndex:
		return fmt.Errorf("frame %d comes from receipt %q at leaf %d, which is no earlier one", f.Frame, o.ReceiptID, o.LogIndex)
	case f.RenderSeconds != 0 || f.Times != (Times{}):
		return fmt.Errorf("frame %d was taken over and took %g seconds", f.Frame, f.RenderSeconds)
	}
	return nil
}

// originsFolder has the receipts that frames were taken over from, in the folder of a job.
const originsFolder = "origins"

// receiptIDs are ids of receipts, which are safe as names of files.
var receiptIDs = regexp.MustCompile(`^RCT-[0-9A-Za-z]+$`)

// OriginFile is where the folder of a job has an earlier receipt, with slashes; "" for what is
// no id of a receipt.
func OriginFile(receiptID string) string {
	if !receiptIDs.MatchString(receiptID) {
		return ""
	}
	return originsFolder + "/" + receiptID + ".json"
}

// OriginsIn reads the earlier receipts in the folder of a job.
func OriginsIn(folder fs.FS) (documents [][]byte, err error) {
	names, err := fs.Glob(folder, originsFolder+"/RCT-*.json")
	if err != nil {
		return nil, fmt.Errorf("look for earlier receipts: %w", err)
	}
	for _, name := range names {
		document, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("read an earlier receipt: %w", err)
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// FromOrigins adds the check "reused" to the report of a receipt with frames that were taken
// over: the receipts that they come from state the same pictures. origins are documents of
// Verify; those of other jobs do no harm. A receipt without such frames gets no check.
func (r *Report) FromOrigins(origins [][]byte, keys []signingkey.Public) {
	if r.Receipt == nil {
		return
	}
	known := map[string]Receipt{}
	for _, document := range origins {
		envelope, _, err := unwrap(document)
		if err != nil {
			continue // no receipt
		}
		if earlier, err := Open(envelope, keys); err == nil {
			known[earlier.ReceiptID] = earlier
		}
	}
	reused, missing := 0, map[string]bool{}
	for _, f := range r.Receipt.Frames {
		if f.Reused == (Origin{}) {
			continue
		}
		reused++
		earlier, given := known[f.Reused.ReceiptID]
		if !given {
			missing[f.Reused.ReceiptID] = true
			continue
		}
		if err := f.comesFrom(earlier, *r.Receipt); err != nil {
			_ = r.distrust("reused", err)
			return
		}
	}
	frames := counted(int64(reused), "frame")
	switch {
	case reused == 0:
	case len(missing) > 0:
		r.add("reused", Skipped, "%s of %d come from earlier receipts; not given, or not signed by these keys: %d", frames, len(r.Receipt.Frames), len(missing))
	default:
		r.add("reused", OK, "%s of %d are those of earlier receipts and cost nothing", frames, len(r.Receipt.Frames))
	}
}

// comesFrom checks that an earlier receipt states the frame.
func (f Frame) comesFrom(earlier, later Receipt) error {
	if earlier.LogIndex == nil || *earlier.LogIndex != f.Reused.LogIndex || earlier.WorkspaceID != later.WorkspaceID {
		return fmt.Errorf("frame %d comes from leaf %d, which is not that of receipt %s", f.Frame, f.Reused.LogIndex, earlier.ReceiptID)
	}
	for _, old := range earlier.Frames {
		if old.Frame == f.Frame {
			if old.SHA256 != f.SHA256 || old.PixelSHA256 != f.PixelSHA256 || old.SizeBytes != f.SizeBytes {
				return fmt.Errorf("frame %d is not the picture that receipt %s states", f.Frame, earlier.ReceiptID)
			}
			if !slices.EqualFunc(old.Outputs, f.Outputs, Output.sameFile) {
				return fmt.Errorf("frame %d does not have the outputs that receipt %s states", f.Frame, earlier.ReceiptID)
			}
			return nil
		}
	}
	return fmt.Errorf("receipt %s states no frame %d", earlier.ReceiptID, f.Frame)
}
