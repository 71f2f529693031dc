// Package quote prices a scene and a range of frames, and locks that price for one
// job.
//
// What always holds: a quote's price never changes. At most one job accepts a quote;
// accepting it again names that job. Quoting spends nothing.
//
// The package leaves receiving files to intake and spending to job. Start reading at
// Lock and Take.
package quote

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/reuse"
)

// Status of a quote. It is computed when the quote is read, never stored: a quote
// expires without a write.
type Status string

// Statuses of a quote.
const (
	Open     Status = "open"
	Accepted Status = "accepted"
	Expired  Status = "expired"
)

// Quote is a locked price (spec 2.11).
type Quote struct {
	QuoteID    string `json:"quote_id" doc:"Begins with QTE-."`
	UploadID   string `json:"upload_id"`
	Status     Status `json:"status" enum:"open,accepted,expired"`
	FrameStart int    `json:"frame_start"`
	FrameEnd   int    `json:"frame_end"`
	FrameStep  int    `json:"frame_step"`
	FrameCount int    `json:"frame_count"`
	FrameList  string `json:"frame_list" doc:"The frames that are priced, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1."`
	// Settings is what the order chose of the file.
	Settings   settings.Settings `json:"settings" doc:"What was chosen of the file for these frames; a member that is absent is as in the file. scene is the scene with these settings."`
	RerenderOf *string           `json:"rerender_of" doc:"The job whose frames these are once more; null for none."`
	// The next four are of a quote that was asked for reuse, and absent in others.
	ReusedFrameCount *int    `json:"reused_frame_count,omitempty" doc:"With reuse: how many frames are taken over from earlier jobs, at no cost."`
	ReusedFrames     *string `json:"reused_frames,omitempty" doc:"With reuse: those frames, such as 1-96,140-250; empty for none."`
	FramesToRender   *string `json:"frames_to_render,omitempty" doc:"With reuse: the frames that are rendered and paid; empty for none."`
	// Changes is absent too where no earlier job was compared, or nothing is rendered.
	Changes        *reuse.Changes `json:"changes,omitempty" doc:"With reuse: why the other frames are rendered."`
	PriceCents     int64          `json:"price_cents" doc:"Locked price in cents."`
	Currency       string         `json:"currency"`
	PricingVersion string         `json:"pricing_version"`
	Qualified1C    bool           `json:"qualified_1c" doc:"True when a frame's work is within the operator's envelope; only then can the quote be started."`
	CreatedAt      time.Time      `json:"created_at"`
	ExpiresAt      time.Time      `json:"expires_at"`
	InputSHA256    string         `json:"input_sha256"`
	InputSizeBytes int64          `json:"input_size_bytes"`
	Filename       string         `json:"filename"`
	Warnings       []Warning      `json:"warnings"`

	// JobID is the job that accepted the quote; "" before.
	JobID string `json:"-"`

	// Reused is what the job takes over; nil where nobody asked.
	Reused *reuse.Found `json:"-"`

	list  string // FrameList if it is not a range, otherwise ""
	scene string // the scene as it was chosen, JSON; "" for the upload's own
}

// Scene is the scene that the quote is for; own is that of its upload.
func (q Quote) Scene(own Scene) (Scene, error) {
	choice, err := q.choice()
	if err == nil && choice.Scene != nil {
		own = *choice.Scene
	}
	return own, err
}

// choice is what the quote's order chose of the file.
func (q Quote) choice() (c Choice, err error) {
	c.Settings = q.Settings
	if q.scene == "" {
		return c, nil
	}
	if c.Scene, err = ReadScene(q.scene); err != nil {
		return c, fmt.Errorf("read the scene of %s: %w", q.QuoteID, err)
	}
	return c, nil
}

// Gaps returns the frames of a quote whose frames are no range; "" of a range.
func (q Quote) Gaps() string { return q.list }

// Prices reports whether these frames, and no others, are those of the quote.
func (q Quote) Prices(frames framelist.List) bool {
	own, err := framelist.Parse(q.FrameList, contract.MaxFrames)
	return err == nil && slices.Equal(own, frames)
}

// Again requests the frames of a quote once more.
func (q Quote) Again() (RequestedFrames, error) {
	r := RequestedFrames{Start: &q.FrameStart, End: &q.FrameEnd, Step: &q.FrameStep}
	if q.RerenderOf != nil {
		r.RerenderOf = *q.RerenderOf
	}
	var err error
	if r.Choice, err = q.choice(); err != nil || q.list == "" {
		return r, err
	}
	r.List, err = framelist.Parse(q.list, contract.MaxFrames)
	return r, err
}

// Envelope is the operator's bound on the work of one frame, in pixels × samples;
// contract.QualifiedPixelSamples unless the operator sets another. Every frame has the
// same price, so the bound keeps a single one from costing far more than it pays.
type Envelope int64

// Lock prices frames of an upload by the terms and holds the price for as long as they
// say. It locks the warnings too, the worst first: those of the file on this farm, and of
// the range. Each call locks a new quote and leaves the older ones as they are. A scene beyond the envelope gets a quote too, so that the
// caller sees the price and the reason; Startable refuses it later. scene is the upload's own;
// where the caller chose another one, that is priced. Errors: those of
// RequestedFrames.Resolve, and why the file cannot be rendered without settings.
func (e Envelope) Lock(ctx context.Context, tx *db.Tx, upload query.Upload, scene Scene, farm Farm, requested RequestedFrames, terms contract.Terms) (Quote, error) {
	own, err := requested.Choice.text()
	if err != nil {
		return Quote{}, err
	}
	scene = requested.Choice.Of(scene)
	if scene.Refused != nil {
		return Quote{}, scene.Refused.fault()
	}
	selected, err := requested.selection(scene.Frames())
	if err != nil {
		return Quote{}, err
	}
	frames, count, list := selected.Frames, selected.count(), selected.List.String()
	work := scene.PixelSamples(frames)
	text, err := json.Marshal(e.Warnings(scene, farm, selected))
	if err != nil {
		return Quote{}, fmt.Errorf("write warnings: %w", err)
	}
	expires := tx.Now + terms.QuoteLifetime.Microseconds()
	reused, free, err := requested.reused(ctx, tx, upload.WorkspaceID, scene, selected, db.Time(expires))
	if err != nil {
		return Quote{}, err
	}
	row := query.Quote{
		QuoteID: id.New(id.Quote), UploadID: upload.UploadID, WorkspaceID: upload.WorkspaceID,
		FrameStart: int64(frames.Start), FrameEnd: int64(frames.End), FrameStep: int64(frames.Step), FrameCount: int64(count),
		Frames: list, RerenderOf: requested.RerenderOf, Settings: requested.Choice.Settings.Text(), Scene: own, Reused: reused,
		PriceCents: terms.Price(int64(count)), ReusedCents: terms.Price(int64(free)), PricingVersion: terms.Version,
		Qualified: bit(work <= int64(e)), Warnings: string(text),
		CreatedAt: tx.Now, ExpiresAt: expires,
	}
	err = tx.QuoteCreate(ctx, query.QuoteCreateParams{
		QuoteID: row.QuoteID, UploadID: row.UploadID, WorkspaceID: row.WorkspaceID,
		FrameStart: row.FrameStart, FrameEnd: row.FrameEnd, FrameStep: row.FrameStep, FrameCount: row.FrameCount,
		Frames: row.Frames, RerenderOf: row.RerenderOf, Settings: row.Settings, Scene: row.Scene, Reused: row.Reused, ReusedCents: row.ReusedCents,
		PriceCents: row.PriceCents, PricingVersion: row.PricingVersion, Qualified: row.Qualified, Warnings: row.Warnings,
		CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, RowSum: quoteRows.Of(row),
	})
	if err != nil {
		return Quote{}, fmt.Errorf("lock quote: %w", err)
	}
	return of(row, upload, tx.Now)
}

// Take locks a quote's row for the job that is being started: if two starts come at
// once, the second waits and then finds the first one's JobID. An accepted quote has
// its JobID, also after its upload was removed, so that a repeated start returns the
// job. Startable decides whether it may be started. Errors: upload_not_found,
// quote_not_found.
func Take(ctx context.Context, tx *db.Tx, workspaceID, uploadID, quoteID string) (Quote, error) {
	upload, err := Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return Quote{}, err
	}
	row, err := tx.QuoteLock(ctx, query.QuoteLockParams{QuoteID: quoteID, WorkspaceID: workspaceID})
	if db.IsNotFound(err) && upload.RemovedAt != 0 {
		return Quote{}, gone()
	}
	if db.IsNotFound(err) || (err == nil && row.UploadID != uploadID) {
		return Quote{}, fault.New(fault.QuoteNotFound, "This upload has no quote %s.", quoteID)
	}
	if err != nil {
		return Quote{}, fmt.Errorf("take quote: %w", err)
	}
	q, err := of(row, upload, tx.Now)
	if err == nil && q.JobID == "" && upload.RemovedAt != 0 {
		err = gone()
	}
	return q, err
}

// Newest reads the most recent quote of an upload, without a lock.
func Newest(ctx context.Context, tx *db.Tx, upload query.Upload) (Quote, error) {
	row, err := tx.QuoteNewest(ctx, query.QuoteNewestParams{UploadID: upload.UploadID, WorkspaceID: upload.WorkspaceID})
	if err != nil {
		return Quote{}, fmt.Errorf("find the quote of %s: %w", upload.UploadID, err)
	}
	return of(row, upload, tx.Now)
}

// gone is the error of an upload that was removed. Its quotes may have gone with it.
func gone() error {
	return fault.New(fault.UploadNotFound, "The upload no longer exists: it was deleted, or it expired before it was used.")
}

// Drop removes the quotes of an upload that no job has taken, and the scenes of the others.
func Drop(ctx context.Context, tx *db.Tx, uploadID string) error {
	if err := tx.QuotesDrop(ctx, uploadID); err != nil {
		return fmt.Errorf("drop the quotes of %s: %w", uploadID, err)
	}
	rows, err := tx.QuotesDropScenes(ctx, uploadID)
	if err != nil {
		return fmt.Errorf("drop the scenes of the quotes of %s: %w", uploadID, err)
	}
	return renew(ctx, tx, rows)
}

// renew writes the checksums of changed quotes.
func renew(ctx context.Context, tx *db.Tx, rows []query.Quote) error {
	for _, row := range rows {
		if err := quoteRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// Startable refuses an expired quote and one outside the envelope. It does not look at
// the JobID: ask it only for a quote that no job has accepted. Errors: quote_expired,
// quote_not_qualified.
func (q Quote) Startable() error {
	if q.Status == Expired {
		return fault.New(fault.QuoteExpired, "The quote expired at %s.", q.ExpiresAt.Format(time.RFC3339))
	}
	if !q.Qualified1C {
		return fault.New(fault.QuoteNotQualified, "A frame of this scene takes more work than the price per frame covers.")
	}
	return nil
}

// Accept marks a quote as accepted by jobID. Take has locked the row in the same
// transaction, so a quote that is taken already is a defect and no answer for a caller.
func Accept(ctx context.Context, tx *db.Tx, quoteID, jobID string) error {
	n, err := tx.QuoteAccept(ctx, query.QuoteAcceptParams{Now: tx.Now, JobID: jobID, QuoteID: quoteID})
	if err != nil {
		return fmt.Errorf("accept quote: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("accept quote %s: it is taken", quoteID)
	}
	return nil
}

// Upload locks an upload of a workspace, so that it cannot be removed until tx ends. A
// removed upload is returned too; its RemovedAt is set. Error: upload_not_found.
func Upload(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (query.Upload, error) {
	upload, err := tx.UploadLock(ctx, uploadID)
	if db.IsNotFound(err) || (err == nil && upload.WorkspaceID != workspaceID) {
		return upload, NoUpload(uploadID)
	}
	if err != nil {
		return upload, fmt.Errorf("read upload: %w", err)
	}
	return upload, nil
}

// NoUpload is the error of an upload that a workspace does not have.
func NoUpload(uploadID string) error {
	return fault.New(fault.UploadNotFound, "There is no upload %s in this workspace.", uploadID)
}

// of joins a quote's row and its upload's. The status depends on now, in microseconds.
func of(row query.Quote, upload query.Upload, now int64) (Quote, error) {
	q := Quote{
		QuoteID: row.QuoteID, UploadID: row.UploadID, Status: Open,
		FrameStart: int(row.FrameStart), FrameEnd: int(row.FrameEnd), FrameStep: int(row.FrameStep), FrameCount: int(row.FrameCount),
		FrameList: ListText(int(row.FrameStart), int(row.FrameEnd), int(row.FrameStep), row.Frames), RerenderOf: db.Optional(row.RerenderOf), list: row.Frames,
		PriceCents: row.PriceCents - row.ReusedCents, Currency: contract.Currency, PricingVersion: row.PricingVersion, Qualified1C: row.Qualified == 1,
		CreatedAt: db.Time(row.CreatedAt), ExpiresAt: db.Time(row.ExpiresAt),
		InputSHA256: upload.Sha256, InputSizeBytes: upload.SizeBytes, Filename: upload.Filename,
		JobID: row.JobID, scene: row.Scene,
	}
	var err error
	if q.Settings, err = settings.Read(row.Settings); err != nil {
		return Quote{}, fmt.Errorf("read the settings of %s: %w", row.QuoteID, err)
	}
	if err = q.readReused(row.Reused); err != nil {
		return Quote{}, fmt.Errorf("read what %s takes over: %w", row.QuoteID, err)
	}
	switch {
	case row.JobID != "":
		q.Status = Accepted
	case row.ExpiresAt <= now:
		q.Status = Expired
	}
	if err := json.Unmarshal([]byte(row.Warnings), &q.Warnings); err != nil {
		return Quote{}, fmt.Errorf("read warnings of %s: %w", row.QuoteID, err)
	}
	return q, nil
}

// bit is how both databases store a boolean.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
