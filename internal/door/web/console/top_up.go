package console

import (
	"net/http"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/wallet"
)

// topUpsOnPage is how many payments the wallet shows.
const topUpsOnPage = 10

// topUpRow is a payment as the wallet shows it.
type topUpRow struct {
	payment.TopUp
	Invoice string // its number; "" for none
}

// Words describes the state of the payment.
func (t topUpRow) Words() string {
	switch t.Status {
	case payment.Created:
		return "Being prepared"
	case payment.Open:
		return "Waiting for payment or for your bank"
	case payment.Paid:
		if t.RefundedCents > 0 {
			return "Paid; a part was refunded"
		}
		return "Paid"
	case payment.Failed:
		return "Refused by the bank"
	case payment.Expired:
		return "Not paid in time"
	case payment.Refunded:
		return "Refunded"
	case payment.Disputed:
		return "Taken back by the payer's bank"
	}
	return string(t.Status)
}

// topUp begins a payment. It leads back to the wallet, which links the provider's page: the
// policy of pages lets a form lead to no other site.
func (s *Site) topUp(r *http.Request, who identity.Principal) (page.Page, error) {
	amount := strings.TrimSpace(r.PostForm.Get("amount"))
	cents, err := page.Dollars("amount", amount, contract.MinTopUpCents, contract.MaxTopUpCents)
	if err == nil && cents == nil {
		err = fault.Field("amount", "is empty; enter an amount in US dollars")
	}
	if err == nil {
		var made payment.TopUp
		if made, err = s.Payments.Create(r.Context(), who, *cents); err == nil {
			return page.Page{Location: walletPath + "?top_up=" + made.ID}, nil
		}
	}
	return s.refusedAtWallet(r, who, walletView{Amount: amount}, err)
}

// walletAlert changes the balance below which the workspace is warned that its wallet
// runs low.
func (s *Site) walletAlert(r *http.Request, who identity.Principal) (page.Page, error) {
	below := strings.TrimSpace(r.PostForm.Get("below"))
	cents, err := page.Dollars("below", below, 0, wallet.MaxCents)
	if err == nil {
		if cents == nil {
			cents = new(int64) // empty: never
		}
		err = s.DB.Write(r.Context(), func(tx *db.Tx) error {
			return alert.Set(r.Context(), tx, who.WorkspaceID, *cents)
		})
	}
	if err == nil {
		return page.Page{Location: walletPath + "?did=alert"}, nil
	}
	return s.refusedAtWallet(r, who, walletView{Below: below}, err)
}

// refusedAtWallet shows the wallet with what was typed and why it is refused.
func (s *Site) refusedAtWallet(r *http.Request, who identity.Principal, typed walletView, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status == http.StatusInternalServerError {
		return page.Page{}, err
	}
	typed.Problem = problem
	p, err := s.walletPage(r, who, typed)
	p.Status = status
	return p, err
}
