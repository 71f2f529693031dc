package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// Submission is a signed benchmark receipt as it arrives at the workers' API.
type Submission struct {
	NodeKeyID string // the credential of the request
	WorkerID  string
	Worker    benchmark.Worker // what that worker registered as
	Envelope  []byte
	PublicKey []byte // of the worker's signing key, PEM
	Frame     []byte // the picture of the receipt's challenge, a PNG; nil without one
}

// Submitted is the result of a submission.
type Submitted struct {
	ResultID  string
	ReceiptID string             // "" when rejected
	Reason    benchmark.Reason   // "" when accepted
	Detail    string             // the reason in one line
	Standing  benchmark.Standing // "" when rejected
}

// Submit judges a receipt. An accepted one is countersigned, logged, ranked and shown in
// one transaction. Repeating a submission returns the first answer. Errors:
// benchmark_refused, node_key_bound. Signature and form are checked before the
// transaction, which locks the whole board: a forged receipt costs no lock. A crash before
// the commit stores nothing, and the receipt can be sent again.
func (b *Board) Submit(ctx context.Context, s Submission) (done Submitted, err error) {
	key, err := signingkey.ParsePublicPEM(s.PublicKey)
	if err != nil {
		return done, fault.New(fault.BenchmarkRefused, "public_key_pem is not an Ed25519 public key.").Wrap(err)
	}
	signed, payload, err := opened(s.Envelope, key)
	if err != nil {
		return done, err
	}
	picture, err := b.keepFrame(ctx, signed, s.Frame)
	if err != nil {
		return done, err
	}
	kept := false
	err = b.DB.Write(ctx, func(tx *db.Tx) error {
		kept = false // the transaction may run again after a conflict
		if err := bind(ctx, tx, s.NodeKeyID, key); err != nil {
			return err
		}
		// The lock comes first: if two equal receipts arrive at the same time,
		// the second finds the first.
		locked, err := lock(ctx, tx)
		if err != nil {
			return err
		}
		known, err := tx.BenchmarkReceiptOf(ctx, payload)
		if err == nil {
			done, err = b.repeated(ctx, tx, known)
			return err
		}
		if !db.IsNotFound(err) {
			return fmt.Errorf("look for the receipt: %w", err)
		}
		done = Submitted{ResultID: id.New(id.Benchmark)}
		row := query.BenchmarkReceiptAddParams{
			ResultID: done.ResultID, PayloadSha256: payload, NodeKeyID: s.NodeKeyID, WorkerID: s.WorkerID,
			WorkerEnvelope: string(s.Envelope), Status: "accepted", CreatedAt: tx.Now,
		}
		if done.Reason, done.Detail, err = b.judge(ctx, tx, signed, s, picture); err != nil {
			return err
		}
		if done.Reason != "" {
			row.Status, row.Reason, row.Detail = "rejected", string(done.Reason), done.Detail
			if err := storeReceipt(ctx, tx, row); err != nil {
				return err
			}
			return b.answer(ctx, tx, signed, s, done, pictureOf{})
		}
		if done.Standing, err = b.standing(ctx, tx, signed); err != nil {
			return err
		}
		kept = picture.key != ""
		done.ReceiptID = id.New(id.Receipt)
		if err := b.accept(ctx, tx, locked, row, signed, key.ID(), done); err != nil {
			return err
		}
		return b.answer(ctx, tx, signed, s, done, picture)
	})
	if picture.key != "" && !kept && !errors.Is(err, db.ErrUnknown) {
		_ = b.Blobs.Delete(context.WithoutCancel(ctx), picture.key) // the sweep removes what a failed delete leaves
	}
	return done, err
}

// opened checks the signature and the form of a receipt, and returns it with the hash of its
// payload. Error: benchmark_refused.
func opened(envelope []byte, key signingkey.Public) (signed benchmark.Receipt, payload string, err error) {
	if signed, err = benchmark.Open(envelope, key); err != nil {
		return signed, "", fault.New(fault.BenchmarkRefused, "The receipt is not valid: %v.", err)
	}
	payload, err = benchmark.PayloadSHA256(envelope)
	return signed, payload, err
}

// judge says why a receipt does not count; "" for one that does.
func (b *Board) judge(ctx context.Context, tx *db.Tx, signed benchmark.Receipt, s Submission, picture pictureOf) (benchmark.Reason, string, error) {
	if reason, detail := benchmark.Judge(signed, s.Worker, tx.Time(), b.AllowSynthetic); reason != "" {
		return reason, detail, nil
	}
	return judgeAnswer(ctx, tx, signed, s, picture.unread)
}

// repeated is the first answer to a receipt that is there already.
func (b *Board) repeated(ctx context.Context, tx *db.Tx, known query.BenchmarkReceipt) (done Submitted, err error) {
	done = Submitted{ResultID: known.ResultID, ReceiptID: known.ReceiptID, Reason: benchmark.Reason(known.Reason), Detail: known.Detail}
	if known.Status != "accepted" {
		return done, nil
	}
	row, err := tx.BenchmarkResultGet(ctx, known.ResultID)
	if err != nil && !db.IsNotFound(err) { // not found: it is hidden by now
		return done, fmt.Errorf("read the result of a receipt: %w", err)
	}
	done.Standing = benchmark.Standing(row.Standing)
	return done, nil
}

// standing decides whether a receipt that counts is ranked. A synthetic one is: only
// services for tests take them, and they are marked.
func (b *Board) standing(ctx context.Context, tx *db.Tx, r benchmark.Receipt) (benchmark.Standing, error) {
	switch {
	case r.Synthetic:
		return benchmark.Synthetic, nil
	case r.Challenge == nil:
		return benchmark.Unverified, nil
	}
	sampled, err := b.sampled()
	if err != nil {
		return "", err
	}
	if r.RenderDevice == benchmark.GPU {
		group, err := groupOf(ctx, tx, versionsOf(r), benchmark.NameOf(r.GPUName, r.GPUMemoryBytes).Slug)
		if err != nil {
			return "", err
		}
		if group.Results >= benchmark.OutlierVoices && r.Score() > benchmark.OutlierTimes*group.ScoreMedian {
			return benchmark.Outlier, nil
		}
		board, err := groupOf(ctx, tx, versionsOf(r), "")
		if err != nil {
			return "", err
		}
		better, err := above(ctx, tx, board.GroupID, byScore, r.Score())
		if err != nil {
			return "", err
		}
		sampled = sampled || better < benchmark.TopReferences
	}
	if sampled {
		return benchmark.Waiting, nil
	}
	return benchmark.Verified, nil
}

// storeReceipt keeps a receipt as it arrived, accepted or not.
func storeReceipt(ctx context.Context, tx *db.Tx, row query.BenchmarkReceiptAddParams) error {
	row.RowSum = receiptRows.Of(query.BenchmarkReceipt(row))
	if err := tx.BenchmarkReceiptAdd(ctx, row); err != nil {
		return fmt.Errorf("keep benchmark receipt: %w", err)
	}
	return nil
}

// bind ties a node key to the signing key that it first came with, so that a stolen
// node key cannot submit under another identity.
func bind(ctx context.Context, tx *db.Tx, nodeKeyID string, key signingkey.Public) error {
	shown, err := key.PEM()
	if err != nil {
		return err
	}
	row := query.NodeSigningKey{KeyID: nodeKeyID, PublicPem: string(shown), BoundAt: tx.Now}
	row.RowSum = nodeSigningKeyRows.Of(row)
	if err := tx.NodeSigningKeyBind(ctx, query.NodeSigningKeyBindParams(row)); err != nil {
		return fmt.Errorf("bind the worker's signing key: %w", err)
	}
	// Read back, because the statement keeps the key that was there first.
	bound, err := tx.NodeSigningKeyGet(ctx, nodeKeyID)
	if err != nil {
		return fmt.Errorf("read the worker's signing key: %w", err)
	}
	if bound != string(shown) {
		return fault.New(fault.NodeKeyBound, "This node key is bound to another signing key.")
	}
	return nil
}

// accept ranks, shows, countersigns and logs a receipt. The leaf comes last, because
// the log stays locked until the commit.
func (b *Board) accept(ctx context.Context, tx *db.Tx, l *locked, row query.BenchmarkReceiptAddParams, signed benchmark.Receipt, workerKey string, done Submitted) error {
	result := resultOf(signed, done, workerKey, tx.Now)
	if err := l.add(ctx, tx, signed, result); err != nil {
		return err
	}
	_, err := receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
		key, err := b.Keys.CurrentAt(ctx, tx, index)
		if err != nil {
			return receipt.Entry{}, err
		}
		record := benchmark.Record{
			ResultID: done.ResultID, ReceiptID: done.ReceiptID, Receipt: signed, WorkerKeyID: workerKey, Standing: done.Standing, GPUSlug: result.GpuSlug,
			Score: thousandths(result.Score), ReceivedAt: tx.Time(), LogIndex: index,
		}
		envelope, err := benchmark.SignRecord(record, []byte(row.WorkerEnvelope), key)
		if err != nil {
			return receipt.Entry{}, fmt.Errorf("countersign benchmark receipt: %w", err)
		}
		row.ReceiptID, row.Envelope = done.ReceiptID, string(envelope)
		if err := storeReceipt(ctx, tx, row); err != nil {
			return receipt.Entry{}, err
		}
		return receipt.EntryOf(envelope)
	})
	return err
}

// resultOf returns the public members of a receipt, without its rank.
// Milliseconds are rounded, because the tally counts whole numbers.
func resultOf(r benchmark.Receipt, done Submitted, workerKey string, now int64) query.BenchmarkResultAddParams {
	out := query.BenchmarkResultAddParams{
		ResultID: done.ResultID, ReceiptID: done.ReceiptID, DeviceName: r.DeviceName(), GpuName: benchmark.Unknown, GpuSlug: benchmark.Unknown,
		Score: r.Score(), TimeMs: int64(r.RenderSeconds*1000 + 0.5), CreatedAt: now, WorkerKeyID: workerKey, Standing: string(done.Standing),
	}
	if r.Synthetic {
		out.Synthetic = 1
	}
	if r.RenderDevice == benchmark.GPU {
		name := benchmark.NameOf(r.GPUName, r.GPUMemoryBytes)
		out.GpuName, out.GpuSlug = name.Name, name.Slug
		if gb := benchmark.Gigabytes(r.GPUMemoryBytes); gb != nil {
			out.VramGb = int64(*gb)
		}
	}
	return out
}

// locked holds the exclusive right to add results, with the numbers that were assigned
// last. Numbers have no gaps and rise with arrival, because each is assigned under the
// lock.
type locked struct{ number, group, facet int64 }

// lock takes the row that all submissions take. The transaction holds it until its end.
func lock(ctx context.Context, tx *db.Tx) (*locked, error) {
	row, err := tx.BenchmarkLock(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock the leaderboard: %w", err)
	}
	return &locked{row.LastNumber, row.LastGroup, row.LastFacet}, nil
}

// add shows a result, and ranks it if it is a GPU's and its standing allows it. Any
// other result joins no group, so it changes no figure and no rank.
func (l *locked) add(ctx context.Context, tx *db.Tx, r benchmark.Receipt, result query.BenchmarkResultAddParams) (err error) {
	l.number++
	result.Number = l.number
	v := versionsOf(r)
	// Every result names its board: the versions of a result are those of its board.
	if result.BoardID, err = l.groupFor(ctx, tx, v, benchmark.Name{}); err != nil {
		return err
	}
	ranks := r.RenderDevice == benchmark.GPU && benchmark.Standing(result.Standing).Ranks()
	if ranks {
		if result.GroupID, err = l.groupOfGPU(ctx, tx, r, result.GpuSlug); err != nil {
			return err
		}
	}
	if err := tx.BenchmarkResultAdd(ctx, result); err != nil {
		return fmt.Errorf("show benchmark result: %w", err)
	}
	if ranks {
		if err := rank(ctx, tx, rowOf(result)); err != nil {
			return err
		}
	}
	for _, f := range facetsOf(r) {
		if err := l.post(ctx, tx, f); err != nil {
			return err
		}
	}
	return l.advance(ctx, tx)
}

// advance stores the numbers that were given last.
func (l *locked) advance(ctx context.Context, tx *db.Tx) error {
	return tx.BenchmarkAdvance(ctx, query.BenchmarkAdvanceParams{LastNumber: l.number, LastGroup: l.group, LastFacet: l.facet})
}

// rowOf is the row that was added.
func rowOf(r query.BenchmarkResultAddParams) query.BenchmarkResult {
	return query.BenchmarkResult{
		Number: r.Number, ResultID: r.ResultID, ReceiptID: r.ReceiptID, BoardID: r.BoardID, GroupID: r.GroupID, DeviceName: r.DeviceName, GpuName: r.GpuName,
		GpuSlug: r.GpuSlug, VramGb: r.VramGb, Score: r.Score, TimeMs: r.TimeMs, Synthetic: r.Synthetic, CreatedAt: r.CreatedAt, WorkerKeyID: r.WorkerKeyID, Standing: r.Standing,
	}
}

// rank adds a ranked result to its groups, and makes it its key's voice.
func rank(ctx context.Context, tx *db.Tx, r query.BenchmarkResult) error {
	for _, group := range []int64{r.BoardID, r.GroupID} {
		if err := tx.BenchmarkGroupChanged(ctx, query.BenchmarkGroupChangedParams{Now: r.CreatedAt, VramGb: r.VramGb, GroupID: group}); err != nil {
			return fmt.Errorf("change a group: %w", err)
		}
	}
	return speak(ctx, tx, r)
}

// groupOfGPU finds or creates the group of a receipt's GPU, under the slug that was signed:
// the table of names may have changed since.
func (l *locked) groupOfGPU(ctx context.Context, tx *db.Tx, r benchmark.Receipt, slug string) (int64, error) {
	name := benchmark.NameOf(r.GPUName, r.GPUMemoryBytes)
	name.Slug = slug
	return l.groupFor(ctx, tx, versionsOf(r), name)
}

// groupFor finds or creates the group of a GPU under these versions; the zero name stands
// for all GPUs. The lock makes find and create one step.
func (l *locked) groupFor(ctx context.Context, tx *db.Tx, v Versions, name benchmark.Name) (int64, error) {
	row, err := tx.BenchmarkGroupFind(ctx, query.BenchmarkGroupFindParams{
		BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring, GpuSlug: name.Slug,
	})
	if err == nil {
		return row.GroupID, nil
	}
	if !db.IsNotFound(err) {
		return 0, fmt.Errorf("find group %q: %w", name.Slug, err)
	}
	l.group++
	err = tx.BenchmarkGroupAdd(ctx, query.BenchmarkGroupAddParams{
		GroupID: l.group, BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring,
		GpuSlug: name.Slug, GpuName: name.Name, GpuVendor: name.Vendor, Folded: foldedName(name),
	})
	if err != nil {
		return 0, fmt.Errorf("make group %q: %w", name.Slug, err)
	}
	return l.group, nil
}

// facet is a searchable public member.
type facet struct{ field, value, also string } // also is searched with the value, and not shown

// folded is what a search compares its words with.
func (f facet) folded() string { return strings.ToLower(strings.TrimSpace(f.value + " " + f.also)) }

// foldedName is what a search for a GPU compares its words with.
func foldedName(name benchmark.Name) string { return strings.ToLower(name.Name + " " + name.Slug) }

// facetsOf lists the values by which a result is found, without unknown ones.
func facetsOf(r benchmark.Receipt) []facet {
	all := []facet{
		{"cpu", r.CPUName, ""}, {"os", r.OS, ""}, {"blender", r.BlenderVersion, "blender"},
		{"device", r.RenderDevice, ""},
	}
	if r.RenderDevice == benchmark.GPU {
		all = append(all, facet{"gpu", r.GPUName, benchmark.NameOf(r.GPUName, r.GPUMemoryBytes).Slug}, facet{"driver", r.GPUDriver, ""})
	}
	return slices.DeleteFunc(all, func(f facet) bool { return f.value == benchmark.Unknown })
}

// post indexes the newest result under a facet. A value is stored once, however many
// results have it; a search reads values first and results second.
func (l *locked) post(ctx context.Context, tx *db.Tx, f facet) error {
	known, err := tx.BenchmarkFacetFind(ctx, query.BenchmarkFacetFindParams{Field: f.field, Value: f.value})
	if db.IsNotFound(err) {
		l.facet++
		known = l.facet
		err = tx.BenchmarkFacetAdd(ctx, query.BenchmarkFacetAddParams{
			FacetID: known, Field: f.field, Value: f.value, Folded: f.folded(),
		})
	}
	if err == nil {
		err = tx.BenchmarkPostingAdd(ctx, query.BenchmarkPostingAddParams{FacetID: known, Number: l.number})
	}
	if err != nil {
		return fmt.Errorf("let a result be found by its %s: %w", f.field, err)
	}
	return nil
}
