package job

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/quote"
)

// EstimateBasis says what eta_seconds is based on.
type EstimateBasis string

// What an estimate rests on, the best first.
const (
	JobFrames     EstimateBasis = "job_frames"     // three or more of the job's own frames
	FreePreview   EstimateBasis = "preview"        // the free previews of the job's upload
	SimilarScenes EstimateBasis = "similar_scenes" // the workspace's last completed job over the same file, or an edited one
	FirstFrames   EstimateBasis = "first_frames"   // one or two of the job's own frames, or a part of the first
)

// EstimateBases lists them.
var EstimateBases = []EstimateBasis{JobFrames, FreePreview, SimilarScenes, FirstFrames}

const (
	// enoughFrames is how many frames of a job show its pace.
	enoughFrames = 3
	// fewFrames is how many frames make a mean that one of them does not spoil.
	fewFrames = 12
	// similarFrames is how many changes of a similar job are looked at: nearly each is an
	// accepted frame.
	similarFrames = 64
	// leastETA is the shortest estimate, in seconds: a job that has not ended is never said
	// to be done.
	leastETA = 0.1
)

// acceptedFrame is when a frame of a job came in, and how long it took to render.
type acceptedFrame struct {
	at   time.Time
	took time.Duration
}

func acceptedAt(at, renderUs int64) acceptedFrame {
	return acceptedFrame{at: db.Time(at), took: time.Duration(renderUs) * time.Microsecond}
}

// foreseeable reports whether the frames of a job so far may tell its end.
func foreseeable(view query.JobViewsRow) bool {
	return Status(view.Job.Status) == Rendering && (view.Held > 0 || rendered(view.Job) > 0)
}

// foreseen is the estimated frame time of a job, from something other than its own
// frames.
type foreseen struct {
	dispatch.FrameTime               // zero where nothing is known
	basis              EstimateBasis // FreePreview or SimilarScenes
}

func foreseenBy(basis EstimateBasis, meanUs, lowUs, highUs int64) foreseen {
	micros := func(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
	return foreseen{dispatch.FrameTime{Mean: micros(meanUs), Low: micros(lowUs), High: micros(highUs)}, basis}
}

// mostChange is how much more or less work a frame of an edited scene may be before
// earlier times become useless.
const mostChange = 16

// edited is what the frames of a scene take after an edit, by the work of both in pixels
// and samples. The edit may also have changed what these numbers do not show, so the
// range is wider. Both scenes are JSON.
func (t foreseen) edited(then, now string) (foreseen, error) {
	var scenes [2]quote.Scene
	for i, text := range []string{then, now} {
		if err := json.Unmarshal([]byte(text), &scenes[i]); err != nil {
			return t, err
		}
	}
	before, after := scenes[0].PixelSamples(scenes[0].Frames()), scenes[1].PixelSamples(scenes[1].Frames())
	if before <= 0 || after <= 0 || scenes[0].Engine != scenes[1].Engine {
		return foreseen{}, nil
	}
	change := float64(after) / float64(before)
	if change > mostChange || change < 1.0/mostChange {
		return foreseen{}, nil
	}
	times := func(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
	t.Mean, t.Low, t.High = times(t.Mean, change), times(t.Low, change/2), times(t.High, change*2)
	return t, nil
}

// similarTimes keeps how long frames took in free previews and in similar jobs as long as
// a forecast lives, for all callers that look at the same jobs. The zero value is empty.
type similarTimes struct {
	mu       sync.Mutex
	forecast *dispatch.Forecast
	known    map[string]foreseen // by id of the job that is looked at
}

// of returns the times for those of some jobs of a workspace, newest first, whose own
// frames do not tell yet. It reads them in two statements if some are not known.
func (s *similarTimes) of(ctx context.Context, tx *db.Tx, forecast *dispatch.Forecast, views []query.JobViewsRow) (map[string]foreseen, error) {
	found, missing := s.recall(forecast, views)
	if len(missing) == 0 {
		return found, nil
	}
	newest, oldest := views[0].Job, views[len(views)-1].Job
	rows, err := tx.JobsAlike(ctx, query.JobsAlikeParams{
		WorkspaceID: newest.WorkspaceID, Oldest: oldest.JobID, Newest: newest.JobID, Fewer: enoughFrames, Upto: similarFrames,
	})
	if err != nil {
		return nil, fmt.Errorf("read how long similar scenes took: %w", err)
	}
	looked, err := tx.JobsLooked(ctx, query.JobsLookedParams{
		WorkspaceID: newest.WorkspaceID, Oldest: oldest.JobID, Newest: newest.JobID, Fewer: enoughFrames,
	})
	if err != nil {
		return nil, fmt.Errorf("read how long previews took: %w", err)
	}
	for _, r := range rows {
		t := foreseenBy(SimilarScenes, r.MeanUs, r.LowUs, r.HighUs)
		if r.Scene != "" {
			if t, err = t.edited(r.SceneThen, r.Scene); err != nil {
				return nil, fmt.Errorf("compare the scene of %s with what it was: %w", r.JobID, err)
			}
		}
		found[r.JobID] = t
	}
	for _, r := range looked { // of this very file and frames: it comes before what was similar
		found[r.JobID] = foreseenBy(FreePreview, r.MeanUs, r.LowUs, r.HighUs)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forecast == forecast {
		for _, jobID := range missing {
			s.known[jobID] = found[jobID]
		}
	}
	return found, nil
}

// rendered is how many frames of a job workers have rendered for it.
func rendered(job Record) int64 { return job.FramesCompleted - job.FramesReused }

// recall returns what is known, and the jobs of which nothing is.
func (s *similarTimes) recall(forecast *dispatch.Forecast, views []query.JobViewsRow) (found map[string]foreseen, missing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forecast != forecast {
		s.forecast, s.known = forecast, map[string]foreseen{}
	}
	found = map[string]foreseen{}
	for _, v := range views {
		if !isLive(v) || rendered(v.Job) >= enoughFrames {
			continue
		}
		t, known := s.known[v.Job.JobID]
		if !known {
			missing = append(missing, v.Job.JobID)
		}
		found[v.Job.JobID] = t
	}
	return found, missing
}

// findRemaining finds what is left of those of some jobs of a workspace, newest first, whose
// frames depend on earlier ones. It takes one statement for all jobs that render.
func findRemaining(ctx context.Context, tx *db.Tx, views []query.JobViewsRow) (rests map[string]*dispatch.Remaining, err error) {
	rendering := map[string]dispatch.Playing{}
	queued := map[string]*dispatch.Remaining{}
	for _, v := range views {
		if !isLive(v) || !v.Plays {
			continue
		}
		p := dispatch.Playing{
			From: v.PlaysFrom, Step: v.Job.FrameStep, Frames: rendered(v.Job), Render: v.Job.RenderUs, Played: v.Played, PlayFor: v.PlayUs,
		}
		if Status(v.Job.Status) == Rendering {
			rendering[v.Job.JobID] = p
			continue
		}
		span, err := spanOf(v.Job.FrameStart, v.Job.FrameEnd, v.Job.FrameStep, v.Job.FrameCount, v.Job.Frames)
		if err != nil {
			return nil, fmt.Errorf("read the frames of %s: %w", v.Job.JobID, err)
		}
		queued[v.Job.JobID] = dispatch.RemainingOf(p, span)
	}
	if len(rendering) == 0 {
		return queued, nil
	}
	newest, oldest := views[0].Job, views[len(views)-1].Job
	if rests, err = dispatch.FindRemaining(ctx, tx, newest.WorkspaceID, oldest.JobID, newest.JobID, rendering); err != nil {
		return nil, err
	}
	maps.Copy(rests, queued)
	return rests, nil
}

// estimate fills when a live job will have its last frame. A job for which no worker is
// there may wait for any time: it has no estimate, and neither has a paused job with frames
// that wait.
func (s surroundings) estimate(view query.JobViewsRow, now time.Time, o *Object) {
	own, similar := s.accepted[o.JobID], s.similar[o.JobID]
	each, basis := frameTime(own), JobFrames
	if len(own) < enoughFrames {
		if basis = FirstFrames; similar.Mean > 0 {
			each, basis = similar.FrameTime, similar.basis
		}
	}
	if each.High > 0 {
		o.SecondsPerFrameLow, o.SecondsPerFrameHigh = new(each.Low.Seconds()), new(each.High.Seconds())
	}
	if view.Paused != "" && view.Job.FramesCompleted+view.Held < view.Job.FrameCount {
		return
	}
	// A worker that holds a frame is available, even if the forecast is older
	// than the worker.
	if (s.forecast.Online == 0 && view.Held == 0) || (o.WaitingReason != nil && *o.WaitingReason != WorkersBusy) {
		return
	}
	begun := float64(view.Progress) / 1000
	left := float64(view.Job.FrameCount-view.Job.FramesCompleted) - begun
	var eta float64
	var span dispatch.ETARange
	var ok bool
	typical := 1.0
	if basis == JobFrames && len(own) < fewFrames {
		typical = typicalShare(own)
	}
	least := restOfFrame(view, begun) * each.Mean.Seconds() // however many workers share the rest, a single one renders the last frame
	if rest, cut := restOfCut(view); cut && each.Mean > 0 {
		eta, least, ok = rest*each.Mean.Seconds(), 0, true
		span = dispatch.ETARange{LowSeconds: rest * each.Low.Seconds(), HighSeconds: rest * each.High.Seconds()}
	} else if rest := s.rests[o.JobID]; rest != nil {
		each.Mean = time.Duration(typical * float64(each.Mean))
		eta, span, ok = s.forecast.FinishRemaining(o.JobID, o.WorkspaceID, asksOf(view), rest, each)
	} else if basis == FreePreview || basis == SimilarScenes {
		eta, span, ok = s.forecast.Finish(o.JobID, o.WorkspaceID, asksOf(view), left, each)
	} else if foreseeable(view) {
		times := make([]time.Time, 0, len(own))
		for _, f := range own {
			times = append(times, f.at)
		}
		eta, span, ok = dispatch.EstimateEnd(now, db.Time(view.Job.ClaimedAt), times, rendered(view.Job), begun, left)
		eta, span.LowSeconds = eta*typical, span.LowSeconds*typical
	}
	if !ok {
		return
	}
	eta = roundToTenth(max(eta, least, leastETA))
	o.ETASeconds, o.ETABasis = &eta, &basis
	o.ETARange = &dispatch.ETARange{LowSeconds: min(eta, max(leastETA, roundToTenth(span.LowSeconds))), HighSeconds: max(eta, roundToTenth(span.HighSeconds))}
}

// restOfCut is, in frames, what each of the workers that render the strips of a job's last frame
// has still to render. cut is false where other frames are left, or the last one is whole.
func restOfCut(view query.JobViewsRow) (rest float64, cut bool) {
	if !view.Cut || view.Held != 1 || view.Job.FrameCount-view.Job.FramesCompleted != 1 {
		return 0, false
	}
	return float64(view.Uncut) / 1000 / float64(max(1, view.Cutters)), true
}

// restOfFrame is the part of a frame that is to be rendered at least until all are in.
func restOfFrame(view query.JobViewsRow, begun float64) float64 {
	if waiting := view.Job.FrameCount - view.Job.FramesCompleted - view.Held; waiting > 0 || view.Held == 0 {
		return 1
	}
	return 1 - begun/float64(view.Held)
}

// typicalShare is the median render time of frames divided by their mean, 1 at most. With
// few frames, one that took long, such as the first one of a scene that Blender prepares,
// would otherwise make all the others look as long.
func typicalShare(frames []acceptedFrame) float64 {
	took := make([]time.Duration, 0, len(frames))
	for _, f := range frames {
		took = append(took, f.took)
	}
	slices.Sort(took)
	mean := frameTime(frames).Mean
	if mean == 0 {
		return 1
	}
	return min(1, took[len(took)/2].Seconds()/mean.Seconds())
}

// frameTime is how long frames took to render; zero of none.
func frameTime(frames []acceptedFrame) (t dispatch.FrameTime) {
	if len(frames) == 0 {
		return t
	}
	var sum time.Duration
	for _, f := range frames {
		sum += f.took
	}
	byTime := func(a, b acceptedFrame) int { return int(a.took - b.took) }
	return dispatch.FrameTime{Mean: sum / time.Duration(len(frames)), Low: slices.MinFunc(frames, byTime).took, High: slices.MaxFunc(frames, byTime).took}
}
