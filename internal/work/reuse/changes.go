package reuse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc.example/internal/render/framelist"
)

// mostCauses bounds the causes that a quote lists.
const mostCauses = 20

// Changes says why frames of an order are rendered although an earlier job rendered the scene.
type Changes struct {
	JobID         string   `json:"job_id" doc:"The job of the workspace that the frames are compared with: the newest of a file with the same name, not counting the number of its version; of any file if there is none."`
	Filename      string   `json:"filename" doc:"Name of that job's file."`
	Causes        []Change `json:"causes" doc:"What differs, at most 20."`
	CausesLeftOut int      `json:"causes_left_out" doc:"How many more there are."`
	Inseparable   string   `json:"inseparable" doc:"Why a change of any key counts for all frames, such as: it uses a particle system. Empty where it does not."`
}

// Ways in which a cause differs, besides those of package contentkey.
const (
	isNew    = "new"      // the earlier job does not have the frames
	unusable = "unusable" // the frames show the same, but are not taken over
)

// Change is something that differs, and the frames that it can change. Its JSON is also that of
// svc diff.
type Change struct {
	Frames    string `json:"frames" doc:"The frames that it can change, such as 96-140."`
	AllFrames bool   `json:"all_frames" doc:"True for what every frame comes from."`
	What      string `json:"what" doc:"Such as material Floor, or action CubeAction. Names come from the file."`
	How       string `json:"how" enum:"changed,added,removed,perhaps changed,new,unusable" doc:"new: the earlier job does not have these frames. unusable: they show the same, but cannot be taken over."`
	Keys      int    `json:"keys" doc:"Of an action: how many of its keys differ; 0 for others."`
}

// When says which frames a cause can change: "all frames", "frame 3" or "frames 3,7-9".
func (c Change) When() string {
	switch {
	case c.AllFrames:
		return "all frames"
	case !strings.ContainsAny(c.Frames, ",-"):
		return "frame " + c.Frames
	}
	return "frames " + c.Frames
}

// Words says what differs: "action CubeAction, 2 keys", "material Floor" or "camera B added".
func (c Change) Words() string {
	switch {
	case c.Keys == 1:
		return c.What + ", 1 key"
	case c.Keys > 1:
		return fmt.Sprintf("%s, %d keys", c.What, c.Keys)
	case c.How == "changed", c.How == isNew, c.How == unusable:
		return c.What
	}
	return c.What + " " + c.How
}

// Earlier is an order compared with a job before it.
type Earlier struct {
	Changes   Changes
	Unchanged framelist.List // frames that show the same in both
	Unlike    map[int]string // of those, what keeps a frame of the earlier job from being taken over
	unusable  string         // what keeps all of them from it
}

// Add adds causes, in front of those that are there.
func (e *Earlier) Add(causes ...Change) { e.Changes.Causes = append(causes, e.Changes.Causes...) }

// New is the cause of frames that the earlier job does not have.
func New(frames framelist.List) Change {
	return Change{Frames: frames.String(), What: "not in the earlier job", How: isNew}
}

// Setting is the cause of a setting that was chosen in another way.
func Setting(name string, frames framelist.List) Change {
	return Change{Frames: frames.String(), AllFrames: true, What: name + " of the order", How: "changed"}
}

// rest says why the frames of an order that were not found are rendered; nil if all were, or
// if nothing was compared.
func (e *Earlier) rest(frames framelist.List, found map[int]string) *Changes {
	if e == nil || len(found) == len(frames) {
		return nil
	}
	c := e.Changes
	same := map[string]framelist.List{}
	for _, frame := range e.Unchanged {
		if found[frame] == "" {
			why := cmp.Or(e.unusable, e.Unlike[frame], "from a kind of worker that is not here or not trusted now")
			same[why] = append(same[why], frame)
		}
	}
	c.Causes = append([]Change{}, c.Causes...)
	for _, why := range slices.Sorted(maps.Keys(same)) {
		c.Causes = append(c.Causes, Change{Frames: same[why].String(), What: "the same picture, but " + why, How: unusable})
	}
	if more := len(c.Causes) - mostCauses; more > 0 {
		c.Causes, c.CausesLeftOut = c.Causes[:mostCauses], more
	}
	return &c
}
