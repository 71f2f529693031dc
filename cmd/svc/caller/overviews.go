package caller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
)

// overviewTime bounds the wait for the overviews of a job whose frames are there already.
const overviewTime = 2 * time.Minute

// fetchOverviews writes the contact sheet and the loop next to the frames. They are an
// extra that nothing proves: a failure is reported, and the render still counts as
// complete. A job of one frame has neither, because the frame shows everything.
func (r *Result) fetchOverviews(ctx context.Context, o Options, job *client.Job) {
	if len(r.Frames) < 2 || job.ContactSheetURL == "" { // or an older service has none
		return
	}
	ctx, done := context.WithTimeout(ctx, overviewTime)
	defer done()
	for _, one := range []struct {
		path  *string
		name  string
		what  string
		fetch func(context.Context, string) (*client.Overview, error)
	}{
		{&r.ContactSheet, sheetFile, "contact sheet", o.Client.ContactSheet},
		{&r.Loop, loopFile, "loop", o.Client.Loop},
	} {
		path := filepath.Join(r.Folder, one.name)
		picture, err := one.fetch(ctx, job.JobID)
		if err == nil {
			err = atomicfile.Replace(path, picture.Content, 0o644)
		}
		if err != nil {
			if refused, ok := errors.AsType[*client.Error](err); ok { // the address of the call helps nobody
				err = refused
			}
			o.Display.Say("the frames are complete, but there is no %s: %v", one.what, err)
			continue
		}
		*one.path = path
	}
}

// saveMovie puts the movie next to the frames, if the scene's output is one, and returns its path.
// Like the overviews it is an extra that nothing proves: a failure is reported, and path is "".
func saveMovie(ctx context.Context, api *client.Client, to terminal.Display, job *client.Job, folder string) (path string) {
	if job.MovieURL != "" {
		to.Say("the frames are complete; waiting for the movie of the scene")
	}
	path, err := api.SaveMovie(ctx, job, folder)
	if refused := (*client.Error)(nil); errors.As(err, &refused) { // the address of the call helps nobody
		err = refused
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || errors.Is(err, client.ErrMovieNotReady):
		to.Say("the movie is not encoded yet. To get it later: svc movie %s", job.JobID)
	default:
		to.Say("there is no movie: %v", err)
	}
	return path
}

// overviewsText names the overviews that are there, "" for none.
func (r *Result) overviewsText() string {
	switch {
	case r.ContactSheet != "" && r.Loop != "":
		return fmt.Sprintf("%s and %s", near(r.ContactSheet), filepath.Base(r.Loop))
	case r.ContactSheet != "":
		return near(r.ContactSheet)
	case r.Loop != "":
		return near(r.Loop)
	}
	return ""
}

// existing is the path of a file of a folder, "" where there is none.
func existing(folder, name string) string {
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
