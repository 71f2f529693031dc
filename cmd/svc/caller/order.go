package caller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/numbers"
)

// order returns the job of the command, started. Where an earlier command has ordered the
// same into the same folder, it returns that command's job. With an error it returns the
// job that may have been started, nil for none.
func (r *run) order(ctx context.Context) (*jobFile, error) {
	switch {
	case r.JobID != "":
		return r.adopt(ctx)
	case r.RerenderOf != "":
		return r.rerender(ctx)
	}
	var err error
	if r.scene, err = openScene(ctx, r.File, r.Files, r.Settings, r.Display); err != nil {
		return nil, err
	}
	defer r.scene.close()
	if err := r.scene.has(r.Frames); err != nil {
		return nil, err
	}
	r.scene.reuse, r.Settings = r.Reuse, r.scene.chosen
	same := func(j *jobFile) bool {
		return j.InputSHA256 == r.scene.sum && j.ProjectSHA256 == r.scene.projectSum() && j.Frames == string(r.Frames) && j.Settings == r.Settings && j.RerenderOf == "" && profile.SameServer(j.Server, r.Server)
	}
	return r.orderIn(ctx, r.out(r.File), same, r.quote)
}

// rerender orders frames of an ended job again, into the folder that has the job's file
// name: the earlier job keeps what it has there.
func (r *run) rerender(ctx context.Context) (*jobFile, error) {
	first, err := r.Client.Job(ctx, r.RerenderOf)
	if err != nil {
		return nil, err
	}
	same := func(j *jobFile) bool {
		return j.RerenderOf == first.JobID && j.Frames == string(r.Frames) && profile.SameServer(j.Server, r.Server)
	}
	return r.orderIn(ctx, r.out(first.Filename), same, func(ctx context.Context) (*client.Quote, error) {
		return r.Client.Rerender(ctx, first.JobID, string(r.Frames))
	})
}

// orderIn returns the job of an earlier command in out that is the same, or prices a new
// one, asks, and starts it.
func (r *run) orderIn(ctx context.Context, out string, same func(*jobFile) bool, priced func(context.Context) (*client.Quote, error)) (*jobFile, error) {
	if _, err := os.Stat(out); err == nil && !r.Again {
		if j, err := r.resume(ctx, out, same); err != nil || j != nil {
			return j, err
		}
	}
	quote, err := priced(ctx)
	if err != nil {
		return nil, err
	}
	j := r.jobOf(quote)
	if err := r.consent(ctx, quote, out, j); err != nil {
		return nil, err
	}
	unlock, err := lock(out, "order")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !r.Again {
		if meanwhile, err := sameOrder(out, same); err != nil || meanwhile != nil {
			return nil, errors.Join(err, fmt.Errorf("not started: another svc render has just ordered the same into %s; run the command again to follow it", out))
		}
	}
	if err := place(out, j); err != nil {
		return nil, err
	}
	if j.inside {
		r.Display.Say("%s has other files; this job's frames go to a subfolder", out)
	}
	err = r.start(ctx, j)
	if j.folder == "" { // the service refused it
		return nil, err
	}
	return j, err
}

// jobOf makes the job of a new order.
func (r *run) jobOf(q *client.Quote) *jobFile {
	j := &jobFile{State: stateOrdered, Server: r.Server, Frames: string(r.Frames), Settings: r.Settings, RerenderOf: r.RerenderOf, CreatedAt: time.Now().UTC()}
	j.take(q)
	if r.scene != nil {
		j.ProjectSHA256 = r.scene.projectSum()
	}
	return j
}

// resume returns the job of an earlier command that ordered the same, nil where there is
// none.
func (r *run) resume(ctx context.Context, out string, same func(*jobFile) bool) (*jobFile, error) {
	unlock, err := lock(out, "order")
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := sameOrder(out, same)
	if err != nil || j == nil {
		return nil, err
	}
	r.resumed = true
	r.sayResumed(j)
	return j, r.start(ctx, j)
}

// sayResumed tells what an earlier command has done, and how to order again.
func (r *run) sayResumed(j *jobFile) {
	of := cmp.Or(j.JobID, "the job")
	if j.State == stateFinished {
		r.Display.Say("already rendered: %s, ordered %s; you do not pay again", of, dayAndTime(j.CreatedAt))
		r.Display.Say("to render it again, and pay again, add --again or give another --out")
		return
	}
	r.Display.Say("continuing %s, ordered %s for %s; you do not pay twice", of, dayAndTime(j.CreatedAt), numbers.Money(j.PriceCents, j.Currency))
}

func dayAndTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// quote uploads what the service lacks and returns the locked quote. The service's hash
// must be that of the local bytes: otherwise the person would accept a price for, and later
// get a receipt over, something else than the file on their disk. Where files are missing,
// nothing is sent until the person has said that they are not needed.
func (r *run) quote(ctx context.Context) (*client.Quote, error) {
	lacks := r.scene.lacks()
	refused := lacks > 0 && !r.AllowMissing
	r.scene.say(r.Display, refused)
	if refused {
		return nil, &missingError{lacks, notStarted}
	}
	quote, err := r.scene.inspect(ctx, r.Client, r.Display, r.Frames)
	if err == nil && quote.InputSHA256 != r.scene.sum {
		return nil, fmt.Errorf("the service received something else than %s: SHA-256 %s instead of %s. Nothing was spent. Upload the file again when no program writes to it", r.File, quote.InputSHA256, r.scene.sum)
	}
	return quote, err
}

// consent shows what would be rendered and asks. What stands against it comes before the
// question: missing files, a price above the ceiling, a wallet that does not cover it.
func (r *run) consent(ctx context.Context, q *client.Quote, out string, j *jobFile) error {
	missing, offer := missingFiles(q), Offer{
		Frames: q.FrameCount, PriceCents: q.PriceCents, Currency: q.Currency,
		Look: func(ctx context.Context) error { return r.look(ctx, q) },
	}
	if q.ReusedFrameCount != nil {
		offer.Reused = *q.ReusedFrameCount
	}
	wallet, err := r.Client.Wallet(ctx)
	if refused, ok := errors.AsType[*client.Error](err); err != nil && (!ok || refused.Status != http.StatusNotFound) {
		return err
	}
	printQuote(r.Display, q, missing, wallet)
	if len(missing) > 0 && !r.AllowMissing {
		return &missingError{len(missing), notStarted}
	}
	if r.MaxCents != nil && q.PriceCents > *r.MaxCents {
		return &priceError{q.PriceCents, *r.MaxCents, q.Currency}
	}
	if wallet != nil && wallet.AvailableCents < q.PriceCents {
		return &fundsError{q.PriceCents - wallet.AvailableCents, q.Currency, r.Server}
	}
	if err := r.sayPaidBefore(out, j); err != nil {
		return err
	}
	return r.Accept(ctx, offer)
}

// look shows the frame in the middle of the range, for free.
func (r *run) look(ctx context.Context, q *client.Quote) error {
	l := looker{client: r.Client, display: r.Display, out: r.Human, show: showAuto}
	p, path, err := l.look(ctx, q.UploadID, q.Filename, 0)
	if err != nil {
		return err
	}
	l.describe(p, path, q)
	return nil
}

// sayPaidBefore names a job of the same bytes and frames that --again orders once more.
func (r *run) sayPaidBefore(out string, ordered *jobFile) error {
	all, err := jobsIn(out)
	if err != nil {
		return err
	}
	for _, j := range all {
		if j.JobID != "" && j.State != stateEnded && j.InputSHA256 == ordered.InputSHA256 && j.Frames == ordered.Frames && j.Settings == ordered.Settings {
			r.Display.Say("again: %s in %s has the same frames (%s); this is a new job with a price of its own", j.JobID, j.folder, j.State)
		}
	}
	return nil
}

// start starts the job, unless it has been. A quote that has expired is replaced by a new
// one, which is asked for like the first. Where the service refuses a new order, nothing of
// it is left.
func (r *run) start(ctx context.Context, j *jobFile) error {
	if j.State != stateOrdered {
		return j.rename()
	}
	job, err := r.send(ctx, j)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == string(fault.QuoteExpired) {
		if err := r.renew(ctx, j); err != nil {
			return err
		}
		job, err = r.send(ctx, j)
	}
	if err != nil {
		if _, unknown := errors.AsType[*unknownStartError](err); !unknown && !r.resumed {
			err = errors.Join(err, j.forget())
		}
		return err
	}
	r.Display.Say("started %s", job.JobID)
	if low := job.LowBalance; low != nil {
		r.Display.Say("the wallet has %s left, which is not enough for another job like this", numbers.Money(low.AvailableCents, job.Currency))
	}
	return j.started(job.JobID)
}

// send accepts the quote at the service. After the yes, Ctrl-C must not leave it
// unknown whether money is reserved, so it does not end the call.
func (r *run) send(ctx context.Context, j *jobFile) (*client.Job, error) {
	said := make(chan struct{})
	silence := context.AfterFunc(ctx, func() {
		defer close(said)
		terminal.Printf(r.Human, "waiting for the service to say whether you pay. Ctrl-C again stops at once; the same command then continues")
	})
	defer func() {
		if !silence() {
			<-said // two lines at once would mix
		}
	}()
	job, err := r.Client.Start(context.WithoutCancel(ctx), &client.Quote{UploadID: j.UploadID, QuoteID: j.QuoteID}, client.StartRequest{LegalAcceptance: client.LegalV1, MaxPriceCents: r.MaxCents, Tags: r.Tags})
	if err == nil {
		return job, nil
	}
	if !refusedForGood(err) {
		return nil, &unknownStartError{j, err}
	}
	refused, _ := errors.AsType[*client.Error](err)
	if r.resumed && slices.Contains([]string{string(fault.QuoteNotFound), string(fault.UploadNotFound)}, refused.Code) {
		return nil, fmt.Errorf("this key does not know the order in %s: %w. Use the key of the original order. To start a new job and pay again, add --again", filepath.Join(j.folder, proof.JobFile), err)
	}
	return nil, err
}

// renew puts a new quote in the place of one that has expired.
func (r *run) renew(ctx context.Context, j *jobFile) error {
	again := func() (*client.Quote, error) {
		return r.scene.inspect(ctx, r.Client, r.Display, FrameList(j.list()))
	}
	if j.RerenderOf != "" {
		again = func() (*client.Quote, error) { return r.Client.Rerender(ctx, j.RerenderOf, j.Frames) }
	}
	quote, err := again()
	if err != nil {
		return err
	}
	if quote.InputSHA256 != j.InputSHA256 {
		return fmt.Errorf("%s has changed since this command was ordered; run it again", r.File)
	}
	r.Display.Say("the earlier quote was not used; here is a new one")
	if err := r.consent(ctx, quote, j.folder, j); err != nil {
		return err
	}
	j.take(quote)
	return j.save()
}

// adopt returns a job that was started elsewhere, with its folder.
func (r *run) adopt(ctx context.Context) (*jobFile, error) {
	job, err := r.Client.Job(ctx, r.JobID)
	if err != nil {
		return nil, err
	}
	if job.Terminal() && job.Status != client.StatusCompleted {
		return nil, &jobError{job}
	}
	r.resumed = true
	out := r.out(job.Filename)
	unlock, err := lock(out, "order")
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := jobsIn(out)
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		if j.JobID == job.JobID && profile.SameServer(j.Server, r.Server) {
			return j, nil
		}
	}
	j := &jobFile{
		State: stateStarted, Server: r.Server, JobID: job.JobID, UploadID: job.UploadID, QuoteID: job.QuoteID,
		Filename: job.Filename, InputSHA256: job.InputSHA256,
		Frames: cmp.Or(job.FrameList, rangeText(job.FrameStart, job.FrameEnd, job.FrameStep)), Settings: job.Settings, RerenderOf: job.RerenderOf,
		FrameStart: job.FrameStart, FrameEnd: job.FrameEnd, FrameStep: job.FrameStep, FrameCount: job.FrameCount, FrameList: job.FrameList,
		PriceCents: job.PriceCents, Currency: job.Currency, CreatedAt: job.CreatedAt,
	}
	return j, place(out, j)
}

// unknownStartError is a start without an answer: the job may exist, with its price
// reserved. The same command again starts the same quote again, which returns that job
// (decisions 6).
type unknownStartError struct {
	job   *jobFile
	cause error
}

func (e *unknownStartError) Error() string {
	return fmt.Sprintf("it is not known whether the render was started and %s reserved for it: %v. "+
		"Run the same command again: it asks for the same job, which is never paid twice (%s has its quote)",
		numbers.Money(e.job.PriceCents, e.job.Currency), e.cause, filepath.Join(e.job.folder, proof.JobFile))
}

// Unwrap returns what the client saw, such as a lost connection.
func (e *unknownStartError) Unwrap() error { return e.cause }

// refusedForGood distinguishes a start that the service refused from one whose outcome is
// unknown. Only an error of the service itself, one with a code, is a refusal: a proxy's
// answer proves nothing. A 500 or an outage may come after the transaction was committed.
func refusedForGood(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code == "" {
		return false
	}
	return refused.Status < http.StatusInternalServerError || refused.Code == string(fault.NotAcceptingJobs)
}
