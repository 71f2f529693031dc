// Package mailer writes and sends the mails about jobs that ended, and comments on jobs.
//
// What always holds: a mail is sent before its notices are removed, so none is lost; after a
// crash in between it is sent again, with the same Message-ID. Text of strangers, such as the
// name of a file, is escaped in the HTML and cannot become a header.
//
// Package notice decides whom to tell of what. Start reading at Mailer.Notify; text.go writes.
package mailer

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/watch"
)

// mostListed is how many jobs a mail names; the rest it counts.
const mostListed = 20

// unsubscribeLife is how long the link that ends the mails works: mails lie around.
const unsubscribeLife = 2 * 365 * 24 * time.Hour

// Mailer mails people how their jobs ended. It is work of its own queue, so that a slow mail
// server delays no job.
type Mailer struct {
	DB    *db.DB
	Jobs  *job.Jobs
	Watch *watch.Reader
	Links links.Links
	// Send sends a mail; nil when no mail server is configured.
	Send func(ctx context.Context, m identity.Message) error
	// Pause is the shortest time between two mails to a person.
	Pause time.Duration
}

// Notify handles a lease of notice.Queue. Without a mail server, or where the operator has
// switched such mails off, it sends nothing: the console shows how the jobs ended. An error leaves the lease to the runner, which tries again later.
func (m *Mailer) Notify(ctx context.Context, l lease.Lease) error {
	var waits notice.Waiting
	var now time.Time
	err := m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		now = tx.Time()
		waits, err = notice.Read(ctx, tx, l.Subject)
		return err
	})
	if err != nil {
		return err
	}
	if !waits.Empty() && !waits.Off && m.Send != nil && m.Pause > 0 {
		message, err := m.write(ctx, waits, now)
		if err != nil {
			return err
		}
		if err := m.Send(ctx, message); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // a mail that was sent is recorded even while the service stops
	return m.DB.Write(ctx, func(tx *db.Tx) error { return notice.Sent(ctx, tx, l, waits, m.Pause) })
}

// write writes the mail of what a person waits to be told.
func (m *Mailer) write(ctx context.Context, w notice.Waiting, now time.Time) (identity.Message, error) {
	listed := w.Jobs
	if len(listed) > mostListed {
		listed = listed[:mostListed]
	}
	v := view{Console: m.Links.To("/console"), Settings: m.Links.To("/console/settings"), More: len(w.Jobs) - len(listed)}
	for _, ended := range w.Jobs {
		if ended.Status == string(job.Failed) {
			v.Failed++
		}
	}
	for _, one := range listed {
		o, err := m.Jobs.Get(ctx, one.WorkspaceID, one.JobID)
		if err != nil {
			return identity.Message{}, err
		}
		v.Jobs = append(v.Jobs, ended{Object: o, URL: m.Links.To("/console/jobs/" + one.JobID)})
	}
	if err := m.comments(ctx, w, &v); err != nil {
		return identity.Message{}, err
	}
	picture, err := m.picture(ctx, v)
	if err != nil {
		return identity.Message{}, err
	}
	var pictures [][]byte
	if picture != nil {
		v.Picture, pictures = true, [][]byte{picture}
	}
	v.Unsubscribe = m.Links.Notices(w.PersonID, now.Add(unsubscribeLife))
	html, err := v.html()
	// A person is told of a job once, so the first one names the mail.
	id := fmt.Sprintf("comments.%d.%s", v.Since.UnixMicro(), w.PersonID)
	if len(w.Jobs) > 0 {
		id = fmt.Sprintf("%s.%d.%s", w.Jobs[0].JobID, len(w.Jobs), w.PersonID)
	}
	return identity.Message{To: w.Email, Subject: v.subject(), ID: id, Text: v.text(), HTML: html, Pictures: pictures, Unsubscribe: v.Unsubscribe}, err
}

// comments adds the comments of visitors to a mail: how many on which jobs, and none of their
// text, which anyone may have written.
func (m *Mailer) comments(ctx context.Context, w notice.Waiting, v *view) error {
	for i, one := range w.Commented {
		if v.AllComments += one.Comments; i >= mostListed {
			v.MoreCommented++
			continue
		}
		o, err := m.Jobs.Get(ctx, one.WorkspaceID, one.JobID)
		if err != nil {
			return err
		}
		v.Commented = append(v.Commented, commented{o, one.Comments, one.Frame, m.Links.To("/console/jobs/" + one.JobID + "/comments")})
	}
	if len(w.Commented) > 0 {
		v.Since = w.Commented[0].Since
	}
	v.Comments = m.Links.To("/console/comments")
	return nil
}

// picture makes the small picture of a mail about one job: of the frame that the newest comment is
// about where none has ended. nil where there is none, and for a mail about several jobs.
func (m *Mailer) picture(ctx context.Context, v view) ([]byte, error) {
	switch {
	case len(v.Jobs) == 1:
		return m.pictureOfEnded(ctx, v.Jobs[0].Object)
	case len(v.Jobs) == 0 && len(v.Commented) == 1:
		return m.pictureOf(ctx, v.Commented[0].Object, v.Commented[0].Frame)
	}
	return nil, nil
}

// pictureOfEnded makes a small picture of the frame in the middle of a completed job, or of the first
// one that a person should look at; nil where there is none.
func (m *Mailer) pictureOfEnded(ctx context.Context, o job.Object) ([]byte, error) {
	if o.Status != job.Completed || o.DownloadURL == nil {
		return nil, nil
	}
	frames, err := m.Watch.Frames(ctx, o.WorkspaceID, o.JobID)
	if err != nil || len(frames) == 0 {
		return nil, err
	}
	shown := frames[len(frames)/2]
	for _, f := range frames {
		if f.Finding != "" {
			shown = f
			break
		}
	}
	return m.pictureOf(ctx, o, shown.Frame)
}

// pictureOf makes a small picture of a frame; nil where there is none: the mail says what happened
// with or without it.
func (m *Mailer) pictureOf(ctx context.Context, o job.Object, frame int) ([]byte, error) {
	found, err := m.Watch.Preview(ctx, o.WorkspaceID, o.JobID, frame)
	var picture []byte
	if err == nil {
		picture, err = found.JPEG(ctx)
	}
	if fault.Is(err, fault.FrameNotFound) || fault.Is(err, fault.ArtifactExpired) || fault.Is(err, fault.ResultDamaged) {
		return nil, nil
	}
	return picture, err
}
