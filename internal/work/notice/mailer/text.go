package mailer

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/job"
)

// view is what a mail says.
type view struct {
	Jobs                           []ended
	More                           int // jobs that it does not name
	Failed                         int // of all jobs
	Picture                        bool
	Console, Settings, Unsubscribe string

	Commented     []commented
	MoreCommented int   // jobs with comments that it does not name
	AllComments   int64 // on all jobs
	Comments      string
	Since         time.Time // of the first comment
}

// commented is a job with comments of visitors.
type commented struct {
	job.Object
	Count int64
	Frame int // that the newest one is about
	URL   string
}

// Service is the name of the service, which the mail says.
func (view) Service() string { return contract.Service }

// Name is the job's file on one line.
func (c commented) Name() string { return plaintext.Line(c.Filename) }

// What says how many comments there are.
func (c commented) What() string { return comments(c.Count) }

// Where says which frame the newest comment is about.
func (c commented) Where() string {
	if c.Count == 1 {
		return fmt.Sprintf("It is about frame %d.", c.Frame)
	}
	return fmt.Sprintf("The newest one is about frame %d.", c.Frame)
}

// comments writes a number of comments.
func comments(n int64) string {
	if n == 1 {
		return "1 new comment"
	}
	return fmt.Sprintf("%d new comments", n)
}

// ended is a job that ended.
type ended struct {
	job.Object
	URL string
}

// frames writes a number of frames.
func frames(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", n)
}

// took says how long frames took together; nothing when that was short.
func took(seconds float64) string {
	switch {
	case seconds < 1:
		return ""
	case seconds < 120:
		return fmt.Sprintf(", %.0f s in total", seconds)
	}
	return fmt.Sprintf(", %.0f min in total", seconds/60)
}

// Name is the job's file on one line.
func (e ended) Name() string { return plaintext.Line(e.Filename) }

// Look is how many frames a person should look at.
func (e ended) Look() (n int) {
	for _, f := range e.Findings {
		n += f.FrameCount
	}
	return n
}

// What says how the job ended, in a few words.
func (e ended) What() string {
	switch {
	case e.Status == job.Failed:
		return "render failed, nothing charged"
	case e.Look() > 0:
		return fmt.Sprintf("%s rendered, %d to check", frames(e.FrameCount), e.Look())
	}
	return frames(e.FrameCount) + " rendered"
}

// Facts are the numbers that matter.
func (e ended) Facts() []string {
	if e.Status == job.Failed {
		why := "The render failed."
		if e.Failure != nil {
			why = plaintext.Line(e.Failure.Message) + " " + e.Failure.SuggestedAction
		}
		return []string{why}
	}
	facts := []string{fmt.Sprintf("%s, %s paid", frames(e.FrameCount), numbers.Dollars(e.ChargedCents))}
	if e.DeviceName != nil {
		facts = append(facts, fmt.Sprintf("%s %s on %s%s", e.Application, e.Version, plaintext.Line(*e.DeviceName), took(e.RenderSeconds)))
	}
	for _, f := range e.Findings {
		facts = append(facts, f.Message)
	}
	if e.ArtifactExpiresAt != nil {
		facts = append(facts, "The files are kept until "+e.ArtifactExpiresAt.Format("2 January 2006")+".")
	}
	return facts
}

// subject is that of the mail.
func (v view) subject() string {
	text := v.ended()
	switch {
	case v.AllComments == 0:
		return text
	case text != "":
		return text + ", " + comments(v.AllComments)
	case len(v.Commented) == 1:
		return v.Commented[0].Name() + ": " + v.Commented[0].What()
	}
	return fmt.Sprintf("%s on %d renders", comments(v.AllComments), len(v.Commented)+v.MoreCommented)
}

// ended says of the subject how jobs ended; "" where none has.
func (v view) ended() string {
	if len(v.Jobs) == 0 {
		return ""
	}
	if len(v.Jobs) == 1 && v.More == 0 {
		return v.Jobs[0].Name() + ": " + v.Jobs[0].What()
	}
	text := fmt.Sprintf("%d renders ended", len(v.Jobs)+v.More)
	if v.Failed > 0 {
		text += fmt.Sprintf(", %d failed", v.Failed)
	}
	return text
}

// Button is the page that the mail leads to.
func (v view) Button() string {
	switch {
	case len(v.Jobs) == 0 && len(v.Commented) == 1:
		return v.Commented[0].URL
	case len(v.Jobs) == 0:
		return v.Comments
	}
	if len(v.Jobs) == 1 && v.More == 0 {
		return v.Jobs[0].URL
	}
	return v.Console
}

// text is the mail without HTML.
func (v view) text() string {
	var b strings.Builder
	for _, e := range v.Jobs {
		fmt.Fprintf(&b, "%s: %s\n", e.Name(), e.What())
		for _, fact := range e.Facts() {
			b.WriteString("  " + fact + "\n")
		}
		b.WriteString("  " + e.URL + "\n\n")
	}
	if v.More > 0 {
		fmt.Fprintf(&b, "And %d more: %s\n\n", v.More, v.Console)
	}
	for _, c := range v.Commented {
		fmt.Fprintf(&b, "%s: %s\n  %s\n  %s\n\n", c.Name(), c.What(), c.Where(), c.URL)
	}
	if v.MoreCommented > 0 {
		fmt.Fprintf(&b, "And comments on %d more: %s\n\n", v.MoreCommented, v.Comments)
	}
	fmt.Fprintf(&b, "You get this e-mail because you signed in to %s. To stop these e-mails:\n%s\n", contract.Service, v.Unsubscribe)
	return b.String()
}

// page is the HTML. Mail programs that drop the style sheet show the light form, on any width.
var page = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<style>@media (max-width:480px){.page{padding:8px!important}.card{padding:16px!important}}
@media (prefers-color-scheme:dark){.page{background:#14181d!important;color:#e8eaed!important}.card{background:#1f252c!important}.name{color:#e8eaed!important}.dim{color:#a3adb8!important}}</style></head>
<body class="page" style="margin:0;padding:24px;background:#f4f5f7;font:16px/1.5 sans-serif;color:#14181d">
<div class="card" style="max-width:520px;margin:0 auto;padding:24px;background:#fff;border-radius:8px;word-break:break-word;overflow-wrap:anywhere">
{{if .Picture}}<p style="margin:0 0 16px"><img src="cid:picture0" alt="{{if .Jobs}}A frame of the job{{else}}The frame that the newest comment is about{{end}}" width="520" style="display:block;width:100%;height:auto;border-radius:6px"></p>
{{end}}{{range .Jobs}}<h1 style="margin:0 0 8px;font-size:20px;line-height:1.35"><a class="name" href="{{.URL}}" style="color:#14181d">{{.Name}}</a>: {{.What}}</h1>
<ul style="margin:0 0 20px;padding-left:20px">{{range .Facts}}<li>{{.}}</li>{{end}}</ul>
{{end}}{{if .More}}<p>And {{.More}} more.</p>
{{end}}{{range .Commented}}<h1 style="margin:0 0 8px;font-size:20px;line-height:1.35"><a class="name" href="{{.URL}}" style="color:#14181d">{{.Name}}</a>: {{.What}}</h1>
<p style="margin:0 0 20px">{{.Where}}</p>
{{end}}{{if .MoreCommented}}<p>And comments on {{.MoreCommented}} more.</p>
{{end}}<p style="margin:0"><a href="{{.Button}}" style="display:inline-block;padding:10px 18px;background:#b4540a;color:#fff;border-radius:6px;text-decoration:none">{{if not .Jobs}}Read the comments{{else if eq .Button .Console}}Open the jobs{{else}}Open the job{{end}}</a></p>
<p class="dim" style="margin:24px 0 0;font-size:13px;color:#5a6470">You get this e-mail because you signed in to {{.Service}}. <a class="dim" href="{{.Unsubscribe}}" style="color:#5a6470">Stop these e-mails</a> or change <a class="dim" href="{{.Settings}}" style="color:#5a6470">your settings</a>.</p>
</div></body></html>
`))

// html is the mail as HTML.
func (v view) html() (string, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return "", fmt.Errorf("write a mail: %w", err)
	}
	return b.String(), nil
}
