package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxPage is the most that one page of a list has.
const maxPage = 200

// JobsRequest selects jobs of the key's workspace. The zero value is all of them.
type JobsRequest struct {
	Status string // one of the Status constants; "" for any
	Tag    string // only jobs with this tag; "" for any
	// Search is at most four words. Each is a part of the file's name or of a tag; one word
	// alone may also begin the job id. "" for any.
	Search string
	// From and To are the first and the last day of creation in UTC, such as 2026-11-27; "" for
	// no bound.
	From, To string
	// Person started the job, or made the key that did: an address, what is before its @, or the
	// id of a person. "" for anybody.
	Person string
	// Frames are frames that the job has, all of them, such as 118 or 1-20,40-60x5; "" for any.
	Frames string
	Limit  int // the most jobs to yield; 0 for all
}

// Jobs yields the workspace's jobs, newest first. It reads page after page, as far as
// the caller goes. An error is the last thing it yields.
func (c *Client) Jobs(ctx context.Context, r JobsRequest) iter.Seq2[*Job, error] {
	path := c.either("/v1/workspace/renders", "/node/v1/jobs")
	filter := url.Values{"status": {r.Status}, "tag": {r.Tag}, "q": {r.Search}, "from": {r.From}, "to": {r.To}, "person": {r.Person}, "frames": {r.Frames}}
	return list(ctx, c, path, filter, "renders", r.Limit, func(job *Job) string { return job.JobID })
}

// Kinds of entries of the ledger; those after KindRefund are of payments.
const (
	KindCredit        = "credit"
	KindReserve       = "reserve"
	KindCapture       = "capture"
	KindRelease       = "release"
	KindRefund        = "refund"
	KindTopUp         = "top_up"
	KindTopUpRefund   = "top_up_refund"
	KindChargeback    = "chargeback"
	KindChargebackWon = "chargeback_won"
	KindSettlement    = "settlement"
)

// Transaction is an entry of the workspace's ledger. AmountCents is positive; Kind, one of the
// Kind constants, says where it went.
type Transaction struct {
	TransactionID string    `json:"transaction_id"`
	Kind          string    `json:"kind"`
	Reference     string    `json:"reference"`
	JobID         string    `json:"job_id"`     // "" for none
	StartedBy     *Actor    `json:"started_by"` // who started the job or began the payment; nil from an older service
	AmountCents   int64     `json:"amount_cents"`
	Currency      string    `json:"currency"`
	CreatedAt     time.Time `json:"created_at"`
}

// Transactions yields the workspace's ledger, newest first, at most limit entries; 0 for
// all. An error is the last thing it yields.
func (c *Client) Transactions(ctx context.Context, limit int) iter.Seq2[*Transaction, error] {
	return list(ctx, c, "/v1/wallet/transactions", url.Values{}, "transactions", limit, func(t *Transaction) string { return t.TransactionID })
}

// SpendRequest divides what the workspace spent.
type SpendRequest struct {
	By    string // "month", "person", "key" or "tags"; "" for by month
	Month string // only this month in UTC, such as 2026-11; "" for the last 12
}

// Spend is what jobs cost. Amounts are US cents, and those of Spend contain the rows that are
// left out.
type Spend struct {
	ChargedCents  int64      `json:"charged_cents"`
	RefundedCents int64      `json:"refunded_cents"`
	SpentCents    int64      `json:"spent_cents"` // the difference
	Currency      string     `json:"currency"`
	Rows          []SpendRow `json:"rows"`          // at most 500
	RowsLeftOut   int        `json:"rows_left_out"` // how many more there are
}

// SpendRow is what was spent in a month, by a person, with a key or for a set of tags.
type SpendRow struct {
	Month         string   `json:"month"`      // by month: which
	StartedBy     *Actor   `json:"started_by"` // by person or key: who; nil for the browser, by key
	Tags          []string `json:"tags"`       // by tags: which
	ChargedCents  int64    `json:"charged_cents"`
	RefundedCents int64    `json:"refunded_cents"`
	SpentCents    int64    `json:"spent_cents"`
}

// Spend adds up what jobs cost, by month, person, key or tags: months newest first, otherwise
// the row that spent most first. It takes an account key.
func (c *Client) Spend(ctx context.Context, r SpendRequest) (*Spend, error) {
	asked := url.Values{}
	for name, value := range map[string]string{"by": r.By, "month": r.Month} {
		if value != "" {
			asked.Set(name, value)
		}
	}
	return ask[Spend](ctx, c, call{method: "GET", path: "/v1/wallet/spend?" + asked.Encode()}, nil)
}

// list yields at most limit items, 0 for all, of a list of which a page is the member of an
// answer. It reads page after page, as far as the caller goes; a page that is not full is the
// last. The next page comes after the id of the last item. Empty values of filter are left out.
func list[T any](ctx context.Context, c *Client, path string, filter url.Values, member string, limit int, id func(*T) string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		before := ""
		for left := limit; ; {
			size := maxPage
			if limit > 0 {
				size = min(left, maxPage)
			}
			page, err := pageOf[T](ctx, c, pagePath(path, filter, size, before), member)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
				before = id(item)
			}
			left -= len(page)
			if len(page) < size || (limit > 0 && left <= 0) {
				return
			}
		}
	}
}

// pageOf reads one page.
func pageOf[T any](ctx context.Context, c *Client, path, member string) (page []*T, err error) {
	var answer map[string]json.RawMessage
	if err := c.get(ctx, path, &answer); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer[member], &page); err != nil {
		return nil, &CallError{Server: c.base.String(), Call: "GET " + path, cause: fmt.Errorf("%w: %w", ErrForeignAnswer, err)}
	}
	return page, nil
}

// pagePath is the address of a page of a list.
func pagePath(path string, filter url.Values, size int, before string) string {
	asked := url.Values{"limit": {strconv.Itoa(size)}}
	for name, values := range filter {
		if values[0] != "" {
			asked[name] = values
		}
	}
	if before != "" {
		asked.Set("before", before)
	}
	return path + "?" + asked.Encode()
}

// Wallet is the balance of the key's workspace. Amounts are US cents.
type Wallet struct {
	WorkspaceID    string `json:"workspace_id"`
	AvailableCents int64  `json:"available_cents"` // can be spent
	ReservedCents  int64  `json:"reserved_cents"`  // set aside for jobs that have not ended
	OwedCents      int64  `json:"owed_cents"`      // taken back of payments after it was spent; what comes in pays it first
	// LowBalance is set when what is available does not cover another job like the newest.
	LowBalance *Shortage `json:"low_balance"`
	// AlertBelowCents: the workspace is warned when less is available; nil for
	// never.
	AlertBelowCents *int64 `json:"alert_below_cents"`
	// DailyLimitCents is what its jobs may cost in a calendar day (UTC), and SpentTodayCents what
	// counts towards it; nil without a limit.
	DailyLimitCents *int64 `json:"daily_limit_cents"`
	SpentTodayCents *int64 `json:"spent_today_cents"`
	// MonthlyLimitCents is what the person behind the credential may spend in the workspace in a
	// calendar month (UTC), and SpentThisMonthCents what counts towards it; nil without a limit.
	MonthlyLimitCents   *int64 `json:"monthly_limit_cents"`
	SpentThisMonthCents *int64 `json:"spent_this_month_cents"`
	Currency            string `json:"currency"`
}

// Shortage is a balance that does not cover a price. Amounts are US cents.
type Shortage struct {
	RequiredCents  int64 `json:"required_cents"`
	AvailableCents int64 `json:"available_cents"`
}

// Frame is an accepted frame of a job.
type Frame struct {
	Frame         int       `json:"frame"`
	File          string    `json:"file"`
	SHA256        string    `json:"sha256"`
	PixelSHA256   string    `json:"pixel_sha256"`
	SizeBytes     int64     `json:"size_bytes"`
	Width         int       `json:"width"` // pixels, as is Height
	Height        int       `json:"height"`
	RenderSeconds float64   `json:"render_seconds"`
	RenderDevice  string    `json:"render_device"`
	DeviceName    string    `json:"device_name"`
	AcceptedAt    time.Time `json:"accepted_at"`
	Checked       string    `json:"checked"` // what the service checked itself: "pixels" or "structure"; "" where that is not known
	Strips        int       `json:"strips"`  // in how many strips several workers rendered it; 0 where one did
	Finding       string    `json:"finding"` // one of the Finding constants; "" for nothing
	Outputs       []Output  `json:"outputs"` // besides the picture, such as those of File Output nodes
}

// maxPreview bounds a preview, in bytes; one of 480 pixels has some tens of KiB.
const maxPreview = 8 << 20

// FramePreview reads a small JPEG of an accepted frame. Error: *Error with frame_not_found
// also for pictures of which none is made.
func (c *Client) FramePreview(ctx context.Context, jobID string, frame int) ([]byte, error) {
	body, err := c.open(ctx, c.jobPath(jobID, fmt.Sprintf("/frames/%d/preview", frame)))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(io.LimitReader(body, maxPreview))
}

// Overview is one picture of many frames of a job.
type Overview struct {
	Content []byte
	Shown   int // frames that it shows: an even choice
	Frames  int // frames of the job that are accepted
}

// ContactSheet reads a JPEG with the frames of a job that are accepted so far, each with
// its number; for a long job, an even choice of them. The first call for a completed job
// takes a moment for each frame. Errors: *Error with frame_not_found while there is no
// frame, artifact_expired.
func (c *Client) ContactSheet(ctx context.Context, jobID string) (*Overview, error) {
	return c.overview(ctx, c.jobPath(jobID, "/contact-sheet"))
}

// Loop reads an animated WebP that plays the frames of a job, small and at the scene's
// speed. Otherwise it is like ContactSheet.
func (c *Client) Loop(ctx context.Context, jobID string) (*Overview, error) {
	return c.overview(ctx, c.jobPath(jobID, "/loop"))
}

func (c *Client) overview(ctx context.Context, path string) (o *Overview, err error) {
	err = c.retry.run(ctx, true, func() error {
		res, err := c.answerOnce(ctx, path)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		o = &Overview{}
		// A proxy may have taken the headers away; 0 says so.
		o.Shown, _ = strconv.Atoi(res.Header.Get("X-Svc-Frames-Shown"))
		o.Frames, _ = strconv.Atoi(res.Header.Get("X-Svc-Frames"))
		o.Content, err = io.ReadAll(io.LimitReader(res.Body, maxPreview))
		return err
	})
	if err != nil {
		return nil, &CallError{Server: c.base.String(), Call: "GET " + path, cause: err}
	}
	return o, nil
}

// Movie opens an MP4 of a completed job's frames, and waits while the service has it encoded. The
// caller closes it. Errors: *Error with movie_unavailable when the frames cannot become a movie,
// render_not_completed, artifact_expired.
func (c *Client) Movie(ctx context.Context, jobID string) (io.ReadCloser, error) {
	for {
		movie, err := c.open(ctx, c.jobPath(jobID, "/movie"))
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != "movie_not_ready" {
			return movie, err
		}
		if c.retry.wait(ctx, max(refused.RetryAfter, firstWait)) != nil {
			return nil, err
		}
	}
}

// Log opens Blender's log of the frames accepted so far, and of every attempt that
// failed. The caller closes it.
func (c *Client) Log(ctx context.Context, jobID string) (io.ReadCloser, error) {
	return c.open(ctx, c.jobPath(jobID, "/log"))
}

// open is a GET whose answer is not JSON, with retries until it begins.
func (c *Client) open(ctx context.Context, path string) (body io.ReadCloser, err error) {
	err = c.retry.run(ctx, true, func() (err error) {
		body, err = c.openOnce(ctx, path)
		return err
	})
	if err != nil {
		return nil, &CallError{Server: c.base.String(), Call: "GET " + path, cause: err}
	}
	return body, nil
}

// openOnce is one try.
func (c *Client) openOnce(ctx context.Context, path string) (io.ReadCloser, error) {
	res, err := c.answerOnce(ctx, path)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// answerOnce is openOnce with the answer's headers.
func (c *Client) answerOnce(ctx context.Context, path string) (*http.Response, error) {
	req, err := c.request(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "*/*")
	res, err := c.send(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // the status alone says enough
		return nil, errorFrom(res, text, time.Now())
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") { // the service sends no pages to programs
		_ = res.Body.Close()
		return nil, &unreadable{fmt.Errorf("%w: it is a web page", ErrForeignAnswer)}
	}
	return res, nil
}
