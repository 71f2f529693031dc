package operator

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/workertags"
)

// onlyTagged begins what RequireTags did. Erase finds acts with tags by it.
const onlyTagged = "let only workers with all of these tags render for "

// RequireTags has only workers with all of some tags render for a workspace; none for any
// worker. Errors: workspace_not_found, invalid_request.
func RequireTags(ctx context.Context, tx *db.Tx, workspaceID string, given []string) (Act, error) {
	required, err := workertags.Of(given)
	if err != nil {
		return Act{}, fault.Field("tags", "%s", err)
	}
	_, err = wallet.Get(ctx, tx, workspaceID)
	what := fmt.Sprintf("let workers of any tags that are not reserved render for %s", workspaceID)
	if len(required) > 0 {
		what = fmt.Sprintf("%s%s: %s", onlyTagged, workspaceID, strings.Join(required, ", "))
	}
	return Act{What: what, WorkspaceID: workspaceID, Do: func(ctx context.Context, tx *db.Tx) error {
		if err := identity.SetTags(ctx, tx, workspaceID, required); err != nil {
			return err
		}
		return dispatch.RequireTags(ctx, tx, workspaceID, required)
	}}, err
}

// LimitFrames sets how many frames of a workspace are rendered at once; 0 means no limit.
// Errors: workspace_not_found, invalid_request.
func LimitFrames(ctx context.Context, tx *db.Tx, workspaceID string, most int64) (Act, error) {
	if most < 0 || most > identity.MostFramesAtOnce {
		return Act{}, fault.Field("frames_at_once", "is %d; it must be 1 to %d, or 0 for no limit", most, identity.MostFramesAtOnce)
	}
	_, err := wallet.Get(ctx, tx, workspaceID)
	what := fmt.Sprintf("let workers render at most %s of %s at once; frames that they have are finished", count(int(most), "frame"), workspaceID)
	if most == 0 {
		what = fmt.Sprintf("let workers render any number of frames of %s at once", workspaceID)
	}
	return Act{What: what, WorkspaceID: workspaceID, Do: func(ctx context.Context, tx *db.Tx) error {
		if err := identity.SetFramesAtOnce(ctx, tx, workspaceID, most); err != nil {
			return err
		}
		return dispatch.LimitFrames(ctx, tx, workspaceID, most)
	}}, err
}
