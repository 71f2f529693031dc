package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/quote"
)

// View is a preview as its owner sees it. The members are part of the published
// interface.
type View struct {
	PreviewID     string          `json:"preview_id" doc:"Begins with PRV-."`
	UploadID      string          `json:"upload_id"`
	Status        Status          `json:"status" enum:"queued,rendering,ready,failed,expired"`
	Frame         int             `json:"frame"`
	WaitingReason *string         `json:"waiting_reason" enum:"no_worker_online,no_capable_worker,workers_busy" doc:"Why a queued preview waits; null for others, and while a worker is about to take it."`
	ImageURL      *string         `json:"image_url" format:"uri" doc:"The picture, a JPEG; it needs no key and lives 1 h. Null unless ready. Read the preview again for a new one."`
	Width         *int            `json:"width" doc:"Pixels of the picture; null unless ready."`
	Height        *int            `json:"height"`
	Findings      []quote.Warning `json:"findings" doc:"The warnings of the newest quote, and in front of them what the picture shows that may be wrong."`
	Seconds       *float64        `json:"seconds" doc:"That the picture took to render; null before."`
	Estimate      *Estimate       `json:"estimate" doc:"What the quoted frames would take; null until the picture was rendered."`
	Failure       *Cause          `json:"failure" doc:"Why there is no picture; null unless failed."`
	CreatedAt     time.Time       `json:"created_at"`
	ExpiresAt     *time.Time      `json:"expires_at" doc:"When the picture is removed, or a queued preview given up; null for one that has ended without a picture."`
}

// Estimate is what the frames of the newest quote would take, as the farm is now. A frame
// may take less or more than the one that was looked at.
type Estimate struct {
	FrameLow  float64  `json:"seconds_per_frame_low" doc:"Of one worker."`
	FrameHigh float64  `json:"seconds_per_frame_high"`
	TotalLow  *float64 `json:"total_seconds_low" doc:"Until the last frame, with the wait for others; null while no worker is online."`
	TotalHigh *float64 `json:"total_seconds_high"`
}

// Cause is why a preview has no picture.
type Cause struct {
	Code            fault.Code `json:"code"`
	Message         string     `json:"message"`
	SuggestedAction string     `json:"suggested_action"`
}

// Reasons why a queued preview waits.
const (
	NoWorkerOnline  = "no_worker_online"
	NoCapableWorker = "no_capable_worker" // no online Blender has what the scene needs
	WorkersBusy     = "workers_busy"
)

// Find reads the newest preview of an upload, or of one of its frames, with the settings of its
// newest quote. Errors:
// upload_not_found, preview_not_found.
func (p *Previews) Find(ctx context.Context, workspaceID, uploadID string, frame *int) (v View, err error) {
	err = p.DB.Read(ctx, func(tx *db.Tx) error {
		quoted, err := p.quoted(ctx, tx, workspaceID, uploadID)
		if err != nil {
			return err
		}
		number := int64(-1)
		if frame != nil {
			number = max(0, int64(*frame))
		}
		row, err := tx.PreviewNewest(ctx, query.PreviewNewestParams{UploadID: uploadID, Frame: number, Settings: quoted.settings})
		if db.IsNotFound(err) {
			return fault.New(fault.PreviewNotFound, "This upload has no such preview.")
		}
		if err != nil {
			return fmt.Errorf("read a preview: %w", err)
		}
		v, err = p.view(ctx, tx, row, quoted)
		return err
	})
	return v, err
}

// Get reads a preview by its id. Errors: preview_not_found, upload_not_found.
func (p *Previews) Get(ctx context.Context, workspaceID, previewID string) (v View, err error) {
	err = p.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.PreviewGet(ctx, previewID)
		if db.IsNotFound(err) || (err == nil && row.WorkspaceID != workspaceID) {
			return fault.New(fault.PreviewNotFound, "There is no preview %s in this workspace.", previewID)
		}
		if err != nil {
			return fmt.Errorf("read a preview: %w", err)
		}
		quoted, err := p.quoted(ctx, tx, workspaceID, row.UploadID)
		if err != nil {
			return err
		}
		v, err = p.view(ctx, tx, row, quoted)
		return err
	})
	return v, err
}

// Listen returns a channel that gets a token when a preview of any upload may have ended,
// from the call on. The caller calls stop.
func (p *Previews) Listen() (wake <-chan struct{}, stop func()) {
	return p.DB.Listen(lease.Topic(Queue))
}

// quotedRange is what the newest quote of an upload says.
type quotedRange struct {
	start, step, count int64
	warnings           []quote.Warning
	settings           string // text of package settings
}

// middle is the frame in the middle of the range.
func (q quotedRange) middle() int64 { return q.start + (q.count-1)/2*q.step }

// quoted reads the newest quote of an upload. Error: upload_not_found, also for one that
// was removed.
func (p *Previews) quoted(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (q quotedRange, err error) {
	row, err := tx.PreviewQuote(ctx, uploadID)
	if db.IsNotFound(err) || (err == nil && row.WorkspaceID != workspaceID) {
		return q, fault.New(fault.UploadNotFound, "There is no upload %s in this workspace.", uploadID)
	}
	if err == nil && row.RemovedAt != 0 {
		return q, fault.New(fault.UploadNotFound, "The upload no longer exists: it was deleted, or it expired before it was used.")
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Warnings), &q.warnings)
	}
	if err != nil {
		return q, fmt.Errorf("read the quote of %s: %w", uploadID, err)
	}
	q.settings = row.Settings
	q.start, q.step, q.count = row.FrameStart, row.FrameStep, row.FrameCount
	return q, nil
}

// view shows a row to its owner.
func (p *Previews) view(ctx context.Context, tx *db.Tx, row query.Preview, quoted quotedRange) (View, error) {
	v := View{
		PreviewID: row.PreviewID, UploadID: row.UploadID, Status: Status(row.Status), Frame: int(row.Frame),
		Findings: slices.Concat(picture(row.Finding), quoted.warnings), CreatedAt: db.Time(row.CreatedAt),
	}
	if v.Findings == nil {
		v.Findings = []quote.Warning{}
	}
	asks := dispatch.Asks{Needs: buildoption.Set(row.Needs)}
	var err error
	if asks.Pools, err = dispatch.RequiredPools(ctx, tx, row.WorkspaceID); err != nil {
		return v, err
	}
	// This includes the worker that ended the preview: the estimate of a finished picture
	// does not claim that no worker is available.
	forecast, err := p.Forecasts.Since(ctx, tx, row.EndedAt)
	if err != nil {
		return v, err
	}
	switch v.Status {
	case Queued:
		v.WaitingReason = waitingReason(forecast, asks)
		v.ExpiresAt = new(db.Time(row.CreatedAt).Add(contract.PreviewWait))
	case Ready:
		gone := db.Time(row.EndedAt).Add(contract.PreviewRetention)
		v.ImageURL = new(p.Links.PreviewImage(row.PreviewID, tx.Time().Add(contract.DownloadLifetime)))
		v.Width, v.Height, v.ExpiresAt = new(int(row.Width)), new(int(row.Height)), &gone
	case Failed:
		code := fault.Code(row.FaultCode)
		v.Failure = &Cause{Code: code, Message: row.FaultText, SuggestedAction: fault.Lookup(code).Action}
	case Rendering, Expired:
	}
	if row.RenderUs > 0 {
		v.Seconds = new(seconds(row.RenderUs))
		v.Estimate = estimateOf(forecast, row, asks, quoted.count)
	}
	return v, nil
}

// estimateOf is what so many frames of the scene of a preview would take.
func estimateOf(forecast *dispatch.Forecast, row query.Preview, asks dispatch.Asks, frames int64) *Estimate {
	each := dispatch.FrameTime{Mean: micros(row.FrameUs), Low: micros(row.FrameLowUs), High: micros(row.FrameHighUs)}
	e := &Estimate{FrameLow: seconds(row.FrameLowUs), FrameHigh: seconds(row.FrameHighUs)}
	if _, span, ok := forecast.Finish("", row.WorkspaceID, asks, float64(frames), each); ok {
		e.TotalLow, e.TotalHigh = new(tenths(span.LowSeconds)), new(tenths(span.HighSeconds))
	}
	return e
}

// waitingReason is why a queued preview waits; nil when an idle worker is about to take
// it.
func waitingReason(forecast *dispatch.Forecast, asks dispatch.Asks) *string {
	switch forecast.WaitOf("", forecast.Able(asks)) {
	case dispatch.WaitForAny, dispatch.WaitForAble:
		return new(NoWorkerOnline)
	case dispatch.WaitForCapable:
		return new(NoCapableWorker)
	case dispatch.WaitForIdle:
		return new(WorkersBusy)
	case dispatch.WaitIsOver, dispatch.WaitForLimit:
	}
	return nil
}

// picture is what a preview's picture shows that may be wrong, in words.
func picture(finding string) []quote.Warning {
	row, ok := framecheck.FindingOf(finding)
	if !ok {
		return nil
	}
	return []quote.Warning{{
		Code: quote.WarningCode(row.Code), Severity: quote.SeverityPicture, Message: row.Meaning + " " + row.Meant, SuggestedAction: row.Before,
	}}
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// seconds shows a time to the hundredth: previews of light scenes take less than a second.
func seconds(us int64) float64 { return math.Round(float64(us)/1e4) / 100 }

// tenths shows a longer time.
func tenths(seconds float64) float64 { return math.Max(0.1, math.Round(seconds*10)/10) }
