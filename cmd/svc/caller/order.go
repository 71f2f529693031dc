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
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
)

// order returns the jobs of the command, all started. Where an earlier command has
// ordered the same into the same folder, it returns that command's jobs. With an error
// it returns the jobs that may have been started.
func (r *run) order(ctx context.Context) ([]*jobFile, error) {
	switch {
	case r.JobID != "":
		return r.adopt(ctx)
	case r.RerenderOf != "":
		return r.rerender(ctx)
	}
	var err error
	if r.scene, err = openScene(ctx, r.File, r.Files, r.Display); err != nil {
		return nil, err
	}
	defer r.scene.close()
	same := func(j *jobFile) bool {
		return j.InputSHA256 == r.scene.sum && j.ProjectSHA256 == r.scene.projectSum() && j.Frames == r.Frames.String() && j.RerenderOf == "" && profile.SameServer(j.Server, r.Server)
	}
	return r.orderIn(ctx, r.out(r.File), same, func() ([]*client.Quote, error) { return r.quotes(ctx) })
}

// rerender orders frames of an ended job again, into the folder that has the job's file
// name: the earlier job keeps what it has there.
func (r *run) rerender(ctx context.Context) ([]*jobFile, error) {
	first, err := r.Client.Job(ctx, r.RerenderOf)
	if err != nil {
		return nil, err
	}
	same := func(j *jobFile) bool {
		return j.RerenderOf == first.JobID && j.Frames == r.List && profile.SameServer(j.Server, r.Server)
	}
	return r.orderIn(ctx, r.out(first.Filename), same, func() ([]*client.Quote, error) {
		quote, err := r.Client.Rerender(ctx, first.JobID, r.List)
		return []*client.Quote{quote}, err
	})
}

// orderIn returns the jobs of an earlier command in out that are the same, or prices new
// ones, asks, and starts them.
func (r *run) orderIn(ctx context.Context, out string, same func(*jobFile) bool, priced func() ([]*client.Quote, error)) ([]*jobFile, error) {
	if _, err := os.Stat(out); err == nil && !r.Again {
		if order, err := r.resume(ctx, out, same); err != nil || len(order) > 0 {
			return order, err
		}
	}
	quotes, err := priced()
	if err != nil {
		return nil, err
	}
	order := r.orderOf(quotes)
	if err := r.consent(ctx, quotes, out, order); err != nil {
		return nil, err
	}
	unlock, err := lock(out, "order")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !r.Again {
		if meanwhile, err := sameOrder(out, same); err != nil || len(meanwhile) > 0 {
			return nil, errors.Join(err, fmt.Errorf("not started: another svc render has ordered the same into %s meanwhile; run the command again to follow that", out))
		}
	}
	if err := place(out, order); err != nil {
		return nil, err
	}
	switch {
	case len(order) > 1:
		r.Display.Say("each job has a folder of its own in %s", out)
	case order[0].folder != out:
		r.Display.Say("%s holds other files; the frames of this job go to a folder of their own in it", out)
	}
	if err := r.start(ctx, order); err != nil {
		return placed(order), err
	}
	return order, nil
}

// placed are the jobs of a new order that the service may have: none where it refused
// the first one.
func placed(order []*jobFile) []*jobFile {
	return slices.DeleteFunc(order, func(j *jobFile) bool { return j.folder == "" })
}

// orderOf makes the jobs of a new order.
func (r *run) orderOf(quotes []*client.Quote) (order []*jobFile) {
	for i, q := range quotes {
		j := &jobFile{
			State: stateOrdered, Server: r.Server, Frames: cmp.Or(r.List, r.Frames.String()), RerenderOf: r.RerenderOf,
			Order: quotes[0].QuoteID, Part: i + 1, Parts: len(quotes), CreatedAt: time.Now().UTC(),
		}
		j.take(q)
		if r.scene != nil {
			j.ProjectSHA256 = r.scene.projectSum()
		}
		order = append(order, j)
	}
	return order
}

// resume returns the jobs of an earlier command that ordered the same, nil where there
// are none.
func (r *run) resume(ctx context.Context, out string, same func(*jobFile) bool) ([]*jobFile, error) {
	unlock, err := lock(out, "order")
	if err != nil {
		return nil, err
	}
	defer unlock()
	order, err := sameOrder(out, same)
	if err != nil || len(order) == 0 {
		return nil, err
	}
	r.resumed = true
	r.sayResumed(order)
	return order, r.start(ctx, order)
}

// sayResumed says what an earlier command has done, and how to repeat it.
func (r *run) sayResumed(order []*jobFile) {
	finished, price := true, int64(0)
	for _, j := range order {
		finished = finished && j.State == stateFinished
		price += j.PriceCents
	}
	first := order[0]
	of := terminal.CountOf(len(order), "job")
	if len(order) == 1 && first.JobID != "" {
		of = first.JobID
	}
	if finished {
		r.Display.Say("rendered before: %s, ordered %s; nothing is paid again", of, dayAndTime(first.CreatedAt))
		r.Display.Say("to render it anew, and pay again, add --again or give another --out")
		return
	}
	r.Display.Say("continuing %s, ordered %s for %s; nothing is paid twice", of, dayAndTime(first.CreatedAt), terminal.Money(price, first.Currency))
}

func dayAndTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// quotes uploads what is missing on the service and returns the locked quote of each job.
// The service's hash must equal that of the local bytes. Otherwise the person would accept a
// price for, and get a receipt over, something other than the file on their disk. If files
// are missing, nothing is uploaded until the person has said that they are not needed.
func (r *run) quotes(ctx context.Context) ([]*client.Quote, error) {
	first := client.Range{}
	if len(r.Frames.Ranges) > 0 {
		first = r.Frames.Ranges[0]
	}
	lacks := r.scene.lacks()
	refused := lacks > 0 && !r.AllowMissing
	r.scene.say(r.Display, refused)
	if refused {
		return nil, &missingError{lacks, notStarted}
	}
	quote, err := r.scene.inspect(ctx, r.Client, r.Display, first)
	if err != nil {
		return nil, err
	}
	if quote.InputSHA256 != r.scene.sum {
		return nil, fmt.Errorf("the service received other bytes than %s: SHA-256 %s instead of %s. Nothing was spent; send the file again when nothing writes to it", r.File, quote.InputSHA256, r.scene.sum)
	}
	quotes := []*client.Quote{quote}
	for _, further := range r.Frames.Ranges[min(1, len(r.Frames.Ranges)):] {
		next, err := r.Client.Quote(ctx, quote.UploadID, further)
		if err != nil {
			return nil, err
		}
		next.UploadID, next.InputSHA256, next.Filename = quote.UploadID, quote.InputSHA256, quote.Filename
		quotes = append(quotes, next)
	}
	return quotes, nil
}

// consent shows what would be rendered and asks. Missing files come before the
// question: the person must know of them, and a script must not pay for pink frames.
func (r *run) consent(ctx context.Context, quotes []*client.Quote, out string, order []*jobFile) error {
	missing := missingFiles(quotes[0])
	printQuotes(r.Display, quotes, missing)
	if len(missing) > 0 && !r.AllowMissing {
		return &missingError{len(missing), notStarted}
	}
	if err := r.sayPaidBefore(out, order); err != nil {
		return err
	}
	offer := Offer{Jobs: len(quotes), Currency: quotes[0].Currency, Look: func(ctx context.Context) error { return r.look(ctx, quotes[0]) }}
	for _, q := range quotes {
		offer.Frames += q.FrameCount
		offer.PriceCents += q.PriceCents
	}
	return r.Accept(ctx, offer)
}

// look shows the frame in the middle of the first job, for free.
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
func (r *run) sayPaidBefore(out string, order []*jobFile) error {
	all, err := jobsIn(out)
	if err != nil {
		return err
	}
	for _, j := range all {
		if j.JobID != "" && j.State != stateEnded && j.InputSHA256 == order[0].InputSHA256 && j.Frames == order[0].Frames {
			r.Display.Say("again: %s in %s has the same frames (%s); this is a new job, which costs anew", j.JobID, j.folder, j.State)
		}
	}
	return nil
}

// start starts the jobs that have not been, in order. Where the service refuses the
// first of a new order, nothing of it is left.
func (r *run) start(ctx context.Context, order []*jobFile) error {
	for i, j := range order {
		err := r.startOne(ctx, j)
		if err == nil {
			continue
		}
		_, unknown := errors.AsType[*unknownStartError](err)
		if i == 0 && !r.resumed && !unknown && j.JobID == "" {
			for _, j := range order {
				err = errors.Join(err, j.forget())
			}
			return err
		}
		if i > 0 || j.Parts > 1 {
			err = fmt.Errorf("%d of %s are started, frames %s are not: %w. Run the same command again to go on", i, terminal.CountOf(len(order), "job"), j.list(), err)
		}
		return err
	}
	return nil
}

// startOne starts one job. A quote that has expired, or whose job has ended without a
// result, is replaced by a new one, which is asked for like the first.
func (r *run) startOne(ctx context.Context, j *jobFile) error {
	switch j.State {
	case stateStarted, stateFinished:
		return j.rename()
	case stateEnded:
		if err := r.renew(ctx, j); err != nil {
			return err
		}
	}
	job, err := r.send(ctx, j)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == string(fault.QuoteExpired) {
		if err := r.renew(ctx, j); err != nil {
			return err
		}
		job, err = r.send(ctx, j)
	}
	if err != nil {
		return err
	}
	r.Display.Say("started %s", job.JobID)
	if low := job.LowBalance; low != nil {
		r.Display.Say("%s are left in the wallet: another job like this does not fit", terminal.Money(low.AvailableCents, job.Currency))
	}
	return j.started(job.JobID)
}

// send accepts the quote at the service. After the yes, Ctrl-C must not leave it
// unknown whether money is reserved, so it does not end the call.
func (r *run) send(ctx context.Context, j *jobFile) (*client.Job, error) {
	job, err := r.Client.Start(context.WithoutCancel(ctx), j.UploadID, j.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err == nil {
		return job, nil
	}
	if !refusedForGood(err) {
		return nil, &unknownStartError{j, err}
	}
	refused, _ := errors.AsType[*client.Error](err)
	if r.resumed && slices.Contains([]string{string(fault.QuoteNotFound), string(fault.UploadNotFound)}, refused.Code) {
		return nil, fmt.Errorf("the order in %s is not known with this key: %w. Use the key that it was made with; to order anew, and pay, add --again", filepath.Join(j.folder, jobFileName), err)
	}
	return nil, err
}

// renew puts a new quote in the place of one that leads to no job.
func (r *run) renew(ctx context.Context, j *jobFile) error {
	again := func() (*client.Quote, error) {
		return r.scene.inspect(ctx, r.Client, r.Display, client.Range{Start: j.FrameStart, End: j.FrameEnd, Step: j.FrameStep})
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
	r.Display.Say("the earlier quote led to no job; here is a new one")
	if err := r.consent(ctx, []*client.Quote{quote}, j.folder, []*jobFile{j}); err != nil {
		return err
	}
	j.take(quote)
	j.State, j.JobID = stateOrdered, ""
	return j.save()
}

// adopt returns a job that was started elsewhere, with its folder.
func (r *run) adopt(ctx context.Context) ([]*jobFile, error) {
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
			return []*jobFile{j}, nil
		}
	}
	j := &jobFile{
		State: stateStarted, Server: r.Server, JobID: job.JobID, UploadID: job.UploadID, QuoteID: job.QuoteID,
		Filename: job.Filename, InputSHA256: job.InputSHA256,
		Frames: cmp.Or(job.FrameList, rangeText(job.FrameStart, job.FrameEnd, job.FrameStep)), RerenderOf: job.RerenderOf,
		FrameStart: job.FrameStart, FrameEnd: job.FrameEnd, FrameStep: job.FrameStep, FrameCount: job.FrameCount, FrameList: job.FrameList,
		PriceCents: job.PriceCents, Currency: job.Currency, CreatedAt: job.CreatedAt, Order: job.JobID, Part: 1, Parts: 1,
	}
	return []*jobFile{j}, place(out, []*jobFile{j})
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
		terminal.Money(e.job.PriceCents, e.job.Currency), e.cause, filepath.Join(e.job.folder, jobFileName))
}

// Unwrap returns what the client saw, such as a lost connection.
func (e *unknownStartError) Unwrap() error { return e.cause }

// refusedForGood distinguishes a start that the service refused from one whose
// outcome is unknown. Only an error of the service itself, one with a code, is a
// refusal; a 500 may come after the transaction was committed, and a proxy's answer
// proves nothing.
func refusedForGood(err error) bool {
	refused, ok := errors.AsType[*client.Error](err)
	return ok && refused.Code != "" && refused.Status != http.StatusInternalServerError
}
