package intake

import (
	"context"
	"errors"
	"io"

	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/inspection"
)

// complete adds to the facts of a file what the libraries that are packed in it say. Only a
// .blend's end tells which of its bytes are libraries, so they are read from the blob, which
// is committed for it. If the sender announced other bytes than those that came, the caller
// finds that out. Errors: unavailable when others hold Memory.
func (r *Received) complete(ctx context.Context, c *content, facts *blendfile.Facts) error {
	err := r.in.completed(ctx, facts, opener{r.workspaceID, r.filename, func() (io.ReadCloser, error) { return c.open(ctx, r.workspaceID) }}, settings.Settings{})
	if err == nil || errors.Is(err, errUnknown) {
		return nil
	}
	return inspection.Refusal(err)
}

// completed is complete of a file that is rendered with settings. Errors: those of
// scenefiles.Complete.
func (in *Intake) completed(ctx context.Context, facts *blendfile.Facts, of opener, s settings.Settings) (err error) {
	ratelimit.Work(ctx, func() {
		err = scenefiles.Complete(ctx, facts, of.filename, of.open,
			scenefiles.Options{Settings: s, Memory: in.Memory, MaxOpen: packedOpen, MaxUnpacked: blendfile.DefaultMaxUnpacked, MaxAnswer: packedAnswer, MaxLinks: packedAnswer})
	})
	return err
}

// Memory that no budget counts: 1 MiB and a decoder for each .blend that is open at
// once; as much for the answer and the names that lead to it as the facts may have.
const (
	packedOpen   = 2
	packedAnswer = 2 << 20
)
