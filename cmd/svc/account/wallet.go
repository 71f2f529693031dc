package account

import (
	"fmt"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/numbers"
)

// Wallet is svc wallet.
type Wallet struct {
	profile.Flags
	output
	paging
	AlertBelowCents *int64 `placeholder:"CENTS" help:"Notify the workspace when its balance falls below this amount, by e-mail and with the webhook event wallet.low; 0 means never. Needs an account key."`
}

// Run prints the balance and the newest entries of the ledger.
func (c *Wallet) Run(app *kong.Context) (err error) {
	most, err := c.most()
	if err != nil {
		return err
	}
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	wallet, err := api.Wallet(ctx)
	if c.AlertBelowCents != nil && err == nil {
		wallet, err = api.SetWalletAlert(ctx, *c.AlertBelowCents)
	}
	if err != nil {
		return err
	}
	entries, err := collect(api.Transactions(ctx, most))
	if err != nil {
		return err
	}
	return c.print(app, struct {
		OK bool `json:"ok"`
		*client.Wallet
		Transactions []*client.Transaction `json:"transactions"`
	}{true, wallet, entries}, func() {
		table := terminal.NewTable(app.Stdout)
		table.Row("available", numbers.Money(wallet.AvailableCents, wallet.Currency))
		table.Row("reserved", numbers.Money(wallet.ReservedCents, wallet.Currency)+", for jobs that have not ended")
		if wallet.OwedCents > 0 {
			table.Row("owed", numbers.Money(wallet.OwedCents, wallet.Currency)+": payments taken back; what comes in pays it first")
		}
		if low := wallet.LowBalance; low != nil {
			table.Row("low", fmt.Sprintf("another job like the newest, %s, does not fit", numbers.Money(low.RequiredCents, wallet.Currency)))
		}
		if wallet.AlertBelowCents != nil {
			table.Row("alert", "below "+numbers.Money(*wallet.AlertBelowCents, wallet.Currency))
		}
		if wallet.DailyLimitCents != nil && wallet.SpentTodayCents != nil {
			table.Row("today", fmt.Sprintf("%s of at most %s a day (UTC)", numbers.Money(*wallet.SpentTodayCents, wallet.Currency), numbers.Money(*wallet.DailyLimitCents, wallet.Currency)))
		}
		if wallet.MonthlyLimitCents != nil && wallet.SpentThisMonthCents != nil {
			table.Row("this month", fmt.Sprintf("%s of your limit of %s a month (UTC)", numbers.Money(*wallet.SpentThisMonthCents, wallet.Currency), numbers.Money(*wallet.MonthlyLimitCents, wallet.Currency)))
		}
		_ = table.Flush() // a closed standard output has no reader
		if len(entries) == 0 {
			return
		}
		fmt.Fprintln(app.Stdout)
		list := terminal.NewList(terminal.Column{Title: "TIME"}, terminal.Column{Title: "KIND"}, terminal.Column{Title: "AMOUNT"},
			terminal.Column{Title: "JOB"})
		for _, e := range entries {
			list.Row(e.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), e.Kind, signOf(e.Kind)+numbers.Money(e.AmountCents, e.Currency), e.JobID)
		}
		list.Print(app.Stdout)
	})
}

// signOf is what an entry does to the money that can be spent: a capture takes what was
// reserved before, and what was taken back is owed until a settlement pays it.
func signOf(kind string) string {
	switch kind {
	case "credit", "release", "refund", "top_up", "chargeback_won":
		return "+"
	case "reserve", "settlement":
		return "-"
	}
	return ""
}
