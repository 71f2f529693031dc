package web_test

import (
	"net/http"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
)

func TestFramesThatWereEditedAreNeverPaidUnseen(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 500)
		priced := p.upload("demo.blend", demo.Scene())
		priced = p.submit(priced.path+"/frames", "frames", "1-9").want(t, http.StatusOK, "Render 9 frames for $0.09")
		start := func(quote, frames string) seen {
			return p.submit(priced.path+"/start", "quote_id", quote, "frames", frames, "terms", contract.LegalAcceptance)
		}
		edited := start(priced.hidden(t, "quote_id"), "1, 5").want(t, http.StatusBadRequest, "You changed the order. 2 frames now cost $0.02", "Render 2 frames for $0.02")
		start(edited.hidden(t, "quote_id"), "one").want(t, http.StatusBadRequest, "disabled>Render</button>")
		p.open("/console/wallet").want(t, http.StatusOK, "$5.00")
		begun := start(edited.hidden(t, "quote_id"), "5,1").want(t, http.StatusOK, "0 of 2 frames", "$0.02, reserved")
		if again := start(edited.hidden(t, "quote_id"), "1,5"); again.path != begun.path {
			t.Errorf("the same order again leads to %s, the first one to %s", again.path, begun.path)
		}
	})
}

func TestWhatIsUsuallyAMistakeIsConfirmedBeforeItIsPaid(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 500)
	priced := p.upload("demo.blend", demo.Scene())
	priced = p.submit(priced.path+"/frames", "frames", "1,5000").want(t, http.StatusOK, "you chose frame 5000 outside it", `name="outside" value="yes" required`)
	order := []string{"quote_id", priced.hidden(t, "quote_id"), "frames", "1,5000", "terms", contract.LegalAcceptance}
	p.submit(priced.path+"/start", order...).want(t, http.StatusBadRequest, `role="alert"`, "Render the frames outside the scene’s range too")
	p.open("/console/wallet").want(t, http.StatusOK, "$5.00")
	begun := p.submit(priced.path+"/start", append(order, "outside", "yes")...).want(t, http.StatusOK, "0 of 2 frames")
	if again := p.submit(priced.path+"/start", order...); again.path != begun.path { // it was confirmed when it began
		t.Errorf("the same order again leads to %s", again.path)
	}
}

func TestFormsSayWhatIsWrongByTheNamesOfTheirFields(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 500)
	priced := p.upload("demo.blend", demo.Scene())
	for _, c := range []struct {
		path, field, value, says string
	}{
		{"/console/wallet/top-ups", "amount", "1", "The amount must be $5.00 to $1,000.00."},
		{"/console/wallet/top-ups", "amount", "lots", "The amount must be an amount in US dollars, such as 10 or 2.50."},
		{"/console/wallet/alert", "below", "999999999999", "The balance for the warning must be an amount in US dollars, such as 10 or 2.50."},
		{"/console/keys", "limit", "99999999999", "The monthly limit must be an amount in US dollars, such as 10 or 2.50."},
		{"/console/settings/name", "name", "a\nb", "The name must be 1 to 80 characters on one line."},
		{"/console/sign-in", "email", "x", "The e-mail address is not an e-mail address."},
		{priced.path + "/look", "frame", "x", "The frame must be a whole number."},
	} {
		p.submit(c.path, c.field, c.value).want(t, http.StatusBadRequest, c.says)
	}
	p.submit("/console/wallet/alert", "below", "2.50").want(t, http.StatusOK, "Saved. You are notified when your balance falls below $2.50.")
	p.submit("/console/wallet/alert", "below", "").want(t, http.StatusOK, "Saved. You are not notified")
}
