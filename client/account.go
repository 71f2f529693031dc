package client

import (
	"context"
	"io"
	"net/url"
	"time"
)

// Share is the public page of a job's frames.
type Share struct {
	JobID    string `json:"job_id"`
	Filename string `json:"filename"`
	// ShareURL is the address of the page. It is set only when the share is created; anyone with
	// the address can open the page.
	ShareURL     string     `json:"share_url"`
	Download     bool       `json:"download"`      // visitors may download the frames at full size, and the ZIP
	Proof        bool       `json:"proof"`         // it has the proof, which shows the price
	Comments     bool       `json:"comments"`      // visitors may comment on frames
	OpenComments int64      `json:"open_comments"` // comments on the job that are not done, also from earlier links
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    time.Time  `json:"expires_at"`
	Views        int64      `json:"views"`
	LastViewedAt *time.Time `json:"last_viewed_at"` // nil before the first view
}

// SavedFilter is a search of jobs that a person has saved under a name. Its members are those of
// JobsRequest; "" for any.
type SavedFilter struct {
	FilterID  string    `json:"filter_id"`
	Name      string    `json:"name"`
	Status    string    `json:"status"`
	Search    string    `json:"q"`
	Tag       string    `json:"tag"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	Person    string    `json:"person"`
	Frames    string    `json:"frames"`
	CreatedAt time.Time `json:"created_at"`
}

// Request selects the jobs that the filter finds.
func (f SavedFilter) Request() JobsRequest {
	return JobsRequest{Status: f.Status, Search: f.Search, Tag: f.Tag, From: f.From, To: f.To, Person: f.Person, Frames: f.Frames}
}

// FrameComment is what a visitor of a job's public page wrote about a frame. Author and Text are what
// a stranger typed: show them as plain text.
type FrameComment struct {
	CommentID string     `json:"comment_id"`
	JobID     string     `json:"job_id"`
	Frame     int        `json:"frame"`
	Author    string     `json:"author"` // "" if the visitor typed no name
	Text      string     `json:"text"`
	CreatedAt time.Time  `json:"created_at"`
	DoneAt    *time.Time `json:"done_at"` // nil while it is open
}

// Statuses of a payment into the wallet, which has the money from paid on.
const (
	TopUpCreated  = "created"
	TopUpOpen     = "open" // a person can pay it
	TopUpPaid     = "paid"
	TopUpFailed   = "failed"
	TopUpExpired  = "expired"
	TopUpRefunded = "refunded"
	TopUpDisputed = "disputed"
)

// TopUp is a payment into the wallet.
type TopUp struct {
	TopUpID     string     `json:"top_up_id"`
	Status      string     `json:"status"`       // one of the TopUp constants
	AmountCents int64      `json:"amount_cents"` // that the wallet gets
	Currency    string     `json:"currency"`
	CheckoutURL string     `json:"checkout_url"` // where a person pays; "" unless it is open
	ReceiptURL  string     `json:"receipt_url"`  // of the payment provider; "" until it is paid
	CreatedAt   time.Time  `json:"created_at"`
	PaidAt      *time.Time `json:"paid_at"` // nil until then
}

// Invoice is an invoice, a receipt or a credit note about a payment.
type Invoice struct {
	Number         string    `json:"number"`
	Kind           string    `json:"kind"` // "receipt", "invoice" or "credit_note"
	TopUpID        string    `json:"top_up_id"`
	Corrects       string    `json:"corrects"` // the number of the invoice that a credit note corrects, or of the credit note that an invoice reverses
	Reason         string    `json:"reason"`   // why it corrects another one: "refund", "chargeback" or "chargeback_won"
	NetCents       int64     `json:"net_cents"`
	TaxCents       int64     `json:"tax_cents"`
	TotalCents     int64     `json:"total_cents"`
	TaxBasisPoints *int64    `json:"tax_basis_points"` // 1900 for 19 %; nil without a rate
	CreditCents    int64     `json:"credit_cents"`     // what the wallet got, or gave back
	Currency       string    `json:"currency"`
	Seller         Party     `json:"seller"`
	Buyer          Party     `json:"buyer"`
	Note           string    `json:"note"`
	PDFURL         string    `json:"pdf_url"` // [Client.InvoicePDF] reads it
	IssuedAt       time.Time `json:"issued_at"`
}

// Party is a seller or a buyer.
type Party struct {
	Name    string `json:"name"`
	Address string `json:"address"` // lines
	TaxID   string `json:"tax_id"`
}

// InvoicePDF opens the PDF of an invoice. The caller closes it. It takes an account key.
func (c *Client) InvoicePDF(ctx context.Context, number string) (io.ReadCloser, error) {
	return c.open(ctx, "/v1/wallet/invoices/"+url.PathEscape(number)+"/pdf")
}

// WebhookEndpoint is an address that is told when a job of the workspace ends.
type WebhookEndpoint struct {
	EndpointID     string     `json:"endpoint_id"`
	URL            string     `json:"url"`
	Description    string     `json:"description"`
	Enabled        bool       `json:"enabled"` // otherwise it is told nothing
	DisabledAt     *time.Time `json:"disabled_at"`
	DisabledReason string     `json:"disabled_reason"` // "requested", "failing" or "gone"; "" while it is enabled
	FailingSince   *time.Time `json:"failing_since"`   // nil while it works
	CreatedAt      time.Time  `json:"created_at"`
	Secret         string     `json:"secret"` // that the service made; only in the answer that made it
}

// RotatedSecret is the answer about a new secret of an endpoint.
type RotatedSecret struct {
	EndpointID        string    `json:"endpoint_id"`
	Secret            string    `json:"secret"` // that the service made; "" for one that you gave
	PreviousExpiresAt time.Time `json:"previous_expires_at"`
}

// Statuses of a webhook call.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// Delivery is a webhook call, over all of its tries.
type Delivery struct {
	DeliveryID string            `json:"delivery_id"`
	EventID    string            `json:"event_id"`
	EventType  string            `json:"event_type"`
	EndpointID string            `json:"endpoint_id"`
	JobID      string            `json:"job_id"` // "" for a test
	URL        string            `json:"url"`
	Status     string            `json:"status"` // one of the Delivery constants
	Reason     string            `json:"reason"` // why nothing more is tried; "" for no reason
	Tries      int               `json:"tries"`
	NextTryAt  *time.Time        `json:"next_try_at"`
	CreatedAt  time.Time         `json:"created_at"`
	EndedAt    *time.Time        `json:"ended_at"`
	Attempts   []DeliveryAttempt `json:"attempts"` // oldest first
}

// DeliveryAttempt is one try of a webhook call.
type DeliveryAttempt struct {
	Number     int        `json:"number"`
	StartedAt  time.Time  `json:"started_at"`
	DurationMS int64      `json:"duration_ms"`
	Status     int        `json:"status"` // of the answer; 0 where none came
	Error      string     `json:"error"`  // why none came
	Answer     string     `json:"answer"` // the beginning of it
	NextTryAt  *time.Time `json:"next_try_at"`
}

// Redelivered says how many webhook calls are made again.
type Redelivered struct {
	EndpointID  string `json:"endpoint_id"`
	Redelivered int    `json:"redelivered"`
}

// Pricing is how renders are priced.
type Pricing struct {
	Contract string `json:"contract"`
	Currency string `json:"currency"`
	Model    string `json:"model"`
	Amount   *int64 `json:"amount"` // cents for a completed frame; nil where there is no such price
}

// TestClock is the time of a test world.
type TestClock struct {
	Now          time.Time `json:"now"`
	MovedSeconds float64   `json:"moved_seconds"` // by how much it is ahead
}
