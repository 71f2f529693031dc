package job

import (
	"encoding/json"
	"reflect"
	"slices"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/framecheck"
)

// auditTimes checks that a job's times follow from its states, and that its seq counts
// its changes.
func auditTimes(f facts, breach func(rule, subject, format string, args ...any)) {
	j := f.job
	at := j.CreatedAt
	for _, next := range []int64{j.SubmittedAt, j.ClaimedAt, f.frames.FirstAt, f.frames.LastAt, f.ended()} {
		if next != 0 && next < at-clockSlack {
			breach("a job's times are in order", j.JobID, "created %d, submitted %d, claimed %d, frames accepted from %d to %d, ended %d",
				j.CreatedAt, j.SubmittedAt, j.ClaimedAt, f.frames.FirstAt, f.frames.LastAt, f.ended())
			break
		}
		at = max(at, next)
	}
	updated := f.ended()
	switch Status(j.Status) {
	case AwaitingSubmit:
		updated = j.CreatedAt
	case Queued:
		updated = j.SubmittedAt
	case Rendering, Packaging:
		// A frame that was reopened is a change as well, and has no row any more.
		if updated = j.ClaimedAt; f.frames.Frames > 0 {
			updated = f.frames.LastAt
		}
		if Reopened(j) > 0 {
			updated = max(updated, j.UpdatedAt)
		}
		// Frames that are accepted at once commit in another order than they began: the
		// last one's time may be later than another's.
		if f.frames.Frames > 1 && j.UpdatedAt < updated && j.UpdatedAt >= updated-clockSlack {
			updated = j.UpdatedAt
		}
	}
	if j.UpdatedAt != updated {
		breach("a job's times are in order", j.JobID, "updated_at is %d, its last change was at %d", j.UpdatedAt, updated)
	}
	// A frame is reopened when its picture is doubted. The attempts of a job that ended are
	// forgotten at their time.
	most := f.doubts
	if f.ended() != 0 {
		most = mostReopened * j.FrameCount
	}
	if more := j.Seq - changes(j); more < 0 || more%2 != 0 || Reopened(j) > most {
		breach("a job's seq counts its changes", j.JobID, "seq is %d after %d changes and %d doubted frames", j.Seq, changes(j), f.doubts)
	}
}

// auditEndOfFrames checks that only state changes came after the last frame of a job whose
// frames are all in.
func auditEndOfFrames(f facts, breach func(rule, subject, format string, args ...any)) {
	j, behind := f.job, int64(1)
	switch Status(j.Status) {
	case Packaging:
	case Completed:
		if behind++; j.ArtifactRemovedAt != 0 {
			behind++
		}
	default:
		return
	}
	if j.FramesReused == j.FrameCount { // before it was rendering, and for one flow before its submit
		if behind++; Flow(j.Flow) == FlowPublicV1 {
			behind++
		}
	}
	if j.Seq != f.newest.Seq+behind {
		breach("a job's seq counts its changes", j.JobID, "seq is %d, that of its last frame %d", j.Seq, f.newest.Seq)
	}
}

// mostReopened is above the number of times that a frame can be reopened: it has three
// attempts, and its job may come back from packaging for each.
const mostReopened = 6

// Reopened is how often a frame of a job was accepted and then rendered again, or the job
// came back from packaging. Each raised the job's seq twice, on the way there and back, and
// left no row.
func Reopened(job Record) int64 { return (job.Seq - changes(job)) / 2 }

// changes is the seq of a job that has its state, its frames and no frame reopened: 1 when
// it is created, and one more for each move, each frame and the removal of its artifact.
func changes(j Record) int64 {
	n := 1 + j.FramesCompleted
	if Flow(j.Flow) == FlowPublicV1 && j.SubmittedAt != 0 {
		n++
	}
	switch Status(j.Status) {
	case Rendering:
		n++
	case Failed, Cancelled:
		if n++; j.ClaimedAt != 0 { // either can come before a worker claims it
			n++
		}
	case Packaging:
		n += 2
	case Completed:
		n += 3
	}
	if Status(j.Status) == Failed && j.FramesCompleted == j.FrameCount {
		n++ // it failed while it was packed
	}
	if j.ArtifactRemovedAt != 0 {
		n++
	}
	return n
}

// auditFrames compares a job's totals with its frames. The devices of a completed job
// are compared with its receipt elsewhere.
func auditFrames(f facts, breach func(rule, subject, format string, args ...any)) {
	j, status := f.job, Status(f.job.Status)
	wrong := func(format string, args ...any) { breach("a job sums up its frames", j.JobID, format, args...) }
	if f.frames.Reused != j.FramesReused {
		wrong("it says that it took %d frames over, there are %d", j.FramesReused, f.frames.Reused)
	}
	if j.BytesReused != 0 && j.BytesReused != f.frames.BytesReused { // 0 also where an older version took frames over
		wrong("it says that these have %d bytes, there are %d", j.BytesReused, f.frames.BytesReused)
	}
	if f.frames.Frames != j.FramesCompleted || f.frames.RenderUs != j.RenderUs {
		wrong("it says %d frames in %d microseconds, there are %d in %d", j.FramesCompleted, j.RenderUs, f.frames.Frames, f.frames.RenderUs)
	}
	if f.frames.Frames == 0 && j.Findings != framecheck.NotLookedFor && j.Findings != (framecheck.Findings{}).Stored() {
		wrong("it was told of %.200s, and has no frames", j.Findings)
	}
	if Reopened(j) > 0 {
		return // a frame that was reopened has left its mark on the job, and no row
	}
	renderer := ""
	switch {
	case f.frames.Synthetic > 0:
		renderer = contract.SyntheticRenderer
	case f.frames.Frames > 0:
		renderer = contract.RendererID
	}
	if j.Renderer != renderer {
		wrong("its renderer is %q, that of its frames %q", j.Renderer, renderer)
	}
	if n := f.newest; status != Completed && (j.RenderDevice != n.Device || j.DeviceName != n.DeviceName || j.BlenderVersion != n.BlenderVersion) {
		wrong("rendered on %s %q by %q, its last frame on %s %q by %q", j.RenderDevice, j.DeviceName, j.BlenderVersion, n.Device, n.DeviceName, n.BlenderVersion)
	}
}

// fixed are the members of an event's data that a job's row alone gives, and that no later
// version shows in another way.
var fixed = []string{
	"job_id", "workspace_id", "flow", "status", "state", "renderer", "render_device", "device_name", "filename", "input_sha256", "input_size_bytes",
	"frame_start", "frame_end", "frame_step", "frame_count", "frame_list", "rerender_of", "frames_completed", "render_seconds", "quote_id", "upload_id", "price_cents",
	"reserved_cents", "charged_cents", "currency", "created_at", "submitted_at", "claimed_at", "completed_at", "failed_at", "cancelled_at",
	"cancel_reason", "updated_at",
}

// auditEvent compares a job that has ended with its event, which has the job as it was
// then. An event that is forgotten has its type and its time alone.
func auditEvent(f facts, breach func(rule, subject, format string, args ...any)) {
	j := f.job
	event, ended := eventOf(Status(j.Status))
	if !ended || len(f.events) != 1 {
		return // the number of events is the webhooks' to check
	}
	e := f.events[0]
	wrong := func(format string, args ...any) {
		breach("an event tells the job as it was", j.JobID, "event "+e.EventID+": "+format, args...)
	}
	if e.Type != event || e.WorkspaceID != j.WorkspaceID || e.CreatedAt != f.ended() || !id.Valid(id.Event, e.EventID) {
		wrong("type %s, workspace %s, time %d; the job is %s, of %s, ended at %d", e.Type, e.WorkspaceID, e.CreatedAt, j.Status, j.WorkspaceID, f.ended())
	}
	if e.Body == "" {
		return
	}
	var kept struct {
		Type string         `json:"type"`
		At   any            `json:"timestamp"`
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal([]byte(e.Body), &kept); err != nil {
		wrong("its body cannot be read: %v", err)
		return
	}
	now, err := members(shown(j))
	if err != nil {
		wrong("the job cannot be shown: %v", err)
		return
	}
	if kept.Type != event || kept.At != db.Time(e.CreatedAt).Format(timeForm) {
		wrong("its body is of type %s and of %v", kept.Type, kept.At)
	}
	for name, value := range kept.Data {
		if slices.Contains(fixed, name) && !reflect.DeepEqual(value, now[name]) {
			wrong("%s was %v, the job's is %v", name, value, now[name])
		}
	}
	was, _ := kept.Data["failure"].(map[string]any)
	if is, _ := now["failure"].(map[string]any); was["code"] != is["code"] || was["message"] != is["message"] {
		wrong("failure was %v, the job's is %v", was, is)
	}
}

// timeForm is how JSON writes a time.
const timeForm = "2006-01-02T15:04:05.999999999Z07:00"

// members is an object as a reader of its JSON sees it.
func members(o Object) (out map[string]any, err error) {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}
