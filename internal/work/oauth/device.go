package oauth

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
)

// Device is the answer to a device (RFC 8628 3.2).
type Device struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	Complete        string `json:"verification_uri_complete"`
	ExpiresIn       int64  `json:"expires_in"` // seconds
	Interval        int64  `json:"interval"`   // seconds
}

// letters of a user code: without vowels it spells no word, and without look-alikes it is
// typed as it is read. Eight of them are 34 bits, for a quarter of an hour, under the rate
// limit.
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// newUserCode draws a code such as BCDF-GHJK.
func newUserCode() (string, error) {
	var b strings.Builder
	for i := range 8 {
		if i == 4 {
			b.WriteByte('-')
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			return "", fmt.Errorf("draw a user code: %w", err)
		}
		b.WriteByte(letters[n.Int64()])
	}
	return b.String(), nil
}

// plainUserCode is a typed code in the form of newUserCode: case, spaces and dashes do not
// matter.
func plainUserCode(typed string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(typed) {
		if strings.ContainsRune(letters, r) {
			if b.WriteRune(r); b.Len() == 4 {
				b.WriteByte('-')
			}
		}
		if b.Len() > 9 {
			return ""
		}
	}
	return b.String()
}

// Begin begins the sign-in of a device. Errors: *Error; rate_limited while too many devices
// wait, or too many of the caller's address.
func (s *Server) Begin(ctx context.Context, form url.Values) (d Device, err error) {
	client, err := single(form, "client_id")
	if err == nil {
		err = s.Clients.Known(client)
	}
	if err != nil {
		return d, err
	}
	if err := ratelimit.Share(ctx, ratelimit.DeviceCodes); err != nil {
		return d, err
	}
	text, err := single(form, "scope")
	if err != nil {
		return d, err
	}
	scopes := scopesOf(text)
	resources, err := s.resourcesOf(form["resource"])
	if err != nil {
		return d, err
	}
	d = Device{ExpiresIn: int64(DeviceLife.Seconds()), Interval: int64(PollInterval.Seconds()), VerificationURI: s.Links.To(links.DevicePath)}
	if d.DeviceCode, err = identity.NewSecret(""); err != nil {
		return d, err
	}
	if d.UserCode, err = newUserCode(); err != nil {
		return d, err
	}
	d.Complete = s.Links.Page(links.DevicePath, url.Values{"user_code": {d.UserCode}})
	return d, s.DB.Write(ctx, func(tx *db.Tx) error {
		waiting, err := tx.OauthDevicesWaiting(ctx)
		if err != nil {
			return fmt.Errorf("count waiting devices: %w", err)
		}
		if waiting >= MaxDevices {
			return fault.New(fault.RateLimited, "Too many devices are waiting to sign in.").After(time.Minute)
		}
		return create(ctx, tx, query.OauthRequest{
			SecretSha256: identity.Hash(d.DeviceCode), Kind: "device", UserCode: d.UserCode, ClientID: client, Scopes: scopes.String(),
			Resources: strings.Join(resources, " "), Status: "waiting", ExpiresAt: tx.Now + DeviceLife.Microseconds(), PollSeconds: d.Interval,
		})
	})
}

// poll answers a device that asks for its tokens.
func (s *Server) poll(ctx context.Context, tx *db.Tx, r tokenRequest) (t Tokens, refused, err error) {
	row, err := tx.OauthRequestLock(ctx, identity.Hash(r.device))
	if db.IsNotFound(err) || (err == nil && (row.Kind != "device" || row.ClientID != r.client)) {
		return t, wrong(InvalidGrant, "the device code is unknown"), nil
	}
	if err != nil {
		return t, nil, fmt.Errorf("read device code: %w", err)
	}
	switch {
	case row.Status == "used":
		return t, wrong(InvalidGrant, "the device code was used before; what it gave is revoked"), revoke(ctx, tx, row.KeyID)
	case row.ExpiresAt <= tx.Now:
		return t, wrong(ExpiredToken, "nobody answered in time"), nil
	case row.Status == "denied":
		return t, wrong(AccessDenied, "the person said no"), nil
	case row.Status == "allowed":
		return s.grant(ctx, tx, row)
	}
	early := tx.Now-row.PolledAt < row.PollSeconds*time.Second.Microseconds()
	refused = wrong(AuthorizationPending, "nobody has answered yet")
	if early {
		row.PollSeconds += int64(PollInterval.Seconds())
		refused = wrong(SlowDown, fmt.Sprintf("ask every %d seconds", row.PollSeconds))
	}
	row.PolledAt = tx.Now
	return t, refused, change(ctx, tx, row)
}

// Waiting is a device that waits for a person's answer.
type Waiting struct {
	UserCode string
	ClientID string
	Scopes   identity.Scopes
}

// noDevice answers for a code that is unknown, answered or too old.
func noDevice() error {
	return fault.New(fault.InvalidRequest, "No device is waiting with this code. Codes expire after 15 minutes and work once.").WithAction("Check the code on the device, or start again there.")
}

// Find returns the device that waits with a code. Error: invalid_request.
func (s *Server) Find(ctx context.Context, typed string) (w Waiting, err error) {
	err = s.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := waiting(ctx, tx, typed)
		if err != nil {
			return err
		}
		w = Waiting{row.UserCode, row.ClientID, scopesOf(row.Scopes)}
		return nil
	})
	return w, err
}

// waiting reads and locks the device that waits with a code. Error: invalid_request.
func waiting(ctx context.Context, tx *db.Tx, typed string) (query.OauthRequest, error) {
	row, err := tx.OauthRequestByUserCode(ctx, plainUserCode(typed))
	if db.IsNotFound(err) || (err == nil && (row.Status != "waiting" || row.ExpiresAt <= tx.Now)) {
		return row, noDevice()
	}
	if err != nil {
		return row, fmt.Errorf("read user code: %w", err)
	}
	return row, nil
}

// AllowDevice records a person's yes to the device with a code. client is the program that
// the page named. Errors: invalid_request, key_limit_reached.
func (s *Server) AllowDevice(ctx context.Context, typed string, client Client, terms Terms) error {
	if err := terms.check(); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := waiting(ctx, tx, typed)
		if err != nil {
			return err
		}
		if row.ClientID != client.ID {
			return noDevice()
		}
		if err := identity.RoomForAgentKey(ctx, tx, terms.WorkspaceID); err != nil {
			return err
		}
		row.Status, row.KeyName, row.WorkspaceID, row.PersonID = "allowed", client.KeyName(), terms.WorkspaceID, terms.PersonID
		row.SpendLimitCents, row.LifeDays = terms.SpendLimitCents, int64(terms.Days)
		return change(ctx, tx, row)
	})
}

// DenyDevice records a person's no. Error: invalid_request.
func (s *Server) DenyDevice(ctx context.Context, typed string) error {
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := waiting(ctx, tx, typed)
		if err != nil {
			return err
		}
		row.Status = "denied"
		return change(ctx, tx, row)
	})
}
