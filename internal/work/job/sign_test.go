package job_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// meanwhile is a signer that does something before it signs what a receipt says of its frames.
type meanwhile struct {
	key signingkey.Key
	do  func()
}

func (m *meanwhile) Sign(data []byte) ([]byte, error) {
	if bytes.Contains(data, []byte(receipt.FrameSetType)) {
		m.do()
	}
	return m.key.SignRaw(data)
}

// A receipt can have 20 MB, and a program may sign it for ten seconds: meanwhile others complete
// their jobs.
func TestAReceiptIsSignedWhileOthersWrite(t *testing.T) {
	for name, long := range map[string]int{"short": 10, "long": 300 << 10} {
		t.Run(name, func(t *testing.T) {
			jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
				key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
				if err != nil {
					t.Fatal(err)
				}
				signer := &meanwhile{key, func() {}}
				w.Jobs.Keys, err = signing.External(key.Public(), signer)
				if err != nil {
					t.Fatal(err)
				}
				w.Write(t, func(ctx context.Context, tx *db.Tx) error {
					if err := w.Jobs.Keys.Register(ctx, tx); err != nil {
						return err
					}
					return receiptlog.Name(ctx, tx, "renders.example.com/log")
				})
				others, asked := 0, 0
				signer.do = func() {
					if asked++; asked > 2 {
						return
					}
					written := make(chan struct{})
					go func() {
						defer close(written)
						w.Write(t, func(ctx context.Context, tx *db.Tx) error {
							_, err := receiptlog.Append(ctx, tx, func(index int64) (e receipt.Entry, err error) { return receipt.Entry{byte(index + 1)}, nil })
							return err
						})
						others++
					}()
					select {
					case <-written:
					case <-time.After(time.Minute):
						t.Error("others cannot write while a receipt is signed")
					}
				}
				owner := w.Workspace(t)
				jobID := w.Job(t, owner, 1)
				w.Deliver(t, w.ClaimOne(w.Worker(t)), time.Second)
				var packing []lease.Lease
				w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
					packing, err = lease.Claim(ctx, tx, job.PackageQueue, "SRV-test", 1, time.Hour)
					return err
				})
				sum := strings.Repeat("1", 64)
				err = w.Jobs.Complete(t.Context(), packing[0], job.Artifact{
					Key: "artifacts/a.zip", File: receipt.File{Filename: "a.zip", SHA256: sum},
					Frames:   []receipt.Frame{{Frame: 1, File: "1.png", SHA256: sum, PixelSHA256: sum}},
					Switched: []string{strings.Repeat("x", long)},
				})
				if err != nil {
					t.Fatal(err)
				}
				_, signed, err := w.Jobs.Receipt(t.Context(), owner, jobID)
				if err != nil {
					t.Fatal(err)
				}
				r, err := receipt.Open(signed.Envelope, []signingkey.Public{key.Public()})
				if err != nil || r.LogIndex == nil || *r.LogIndex != int64(others) || others == 0 {
					t.Errorf("after %d other leaves the receipt names leaf %v: %v", others, r.LogIndex, err)
				}
			})
		})
	}
}
