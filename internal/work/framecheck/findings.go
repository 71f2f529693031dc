package framecheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/pixels"
)

// Findings of accepted frames: unusual, but confirmed, explained, or possibly meant. A
// finding never fails a frame. Receipts list all but FindingRepeated, which follows from
// the hashes that they list.
const (
	FindingNotFinite = "not_finite" // a colour is infinite or no number
	FindingBlack     = "black"      // every pixel is opaque and black
	FindingPink      = "pink"       // a part is in the pink of missing textures
	FindingUniform   = "uniform"    // the picture is of one colour, and not black
	FindingBlank     = "blank"      // a part is of one colour, as no neighbour has it; rendered twice, and so both times
	FindingRepeated  = "repeated"   // the pixels are those of the frame before, for longer than is usual in the job
)

// FindingRow is a row of the table of findings.
type FindingRow struct {
	Code    string
	Meaning string // what is seen in the frames
	Meant   string // when all is well
	Action  string // what to do when it is not
	Before  string // the same for a free preview; "" if a single picture has no such finding
}

// FindingTable returns all findings, the worst first. Every text that a caller reads
// about a finding comes from here, and docs/findings.md is printed from it.
func FindingTable() []FindingRow {
	return []FindingRow{
		{FindingNotFinite, "A colour is infinite or not a number, and was so again in a second render.",
			"A division by zero in the compositor gives such values.",
			"Open the frame in your compositor and look for black or white specks. Clamp the values there, or order a rerender.",
			""},
		{FindingBlack, "Every pixel is black.",
			"A fade looks like this.",
			"Check camera, lights, render visibility and compositor at these frames. To render them again, order a rerender.",
			"Render another frame. If it is black too, check camera, lights, render visibility and compositor, save the file and upload it again."},
		{FindingPink, "At least 5% of the picture has the magenta that Cycles shows for missing textures.",
			"A magenta background looks like this.",
			"Pack the textures into the file, upload it again, and order these frames.",
			"Pack the textures into the .blend (File > External Data > Pack Resources), save it and upload it again."},
		{FindingUniform, "The picture has only one colour or is empty.",
			"An empty shot looks like this.",
			"Check camera, render visibility and compositor at these frames. To render them again, order a rerender.",
			"Render another frame. If it looks the same, check camera, render visibility and compositor, save the file and upload it again."},
		{FindingBlank, "At least a quarter of the picture has one colour, unlike the frames before and after it. Two renders gave the same result.",
			"A flash or a cut looks like this.",
			"Compare these frames with their neighbours.", ""},
		{FindingRepeated, "The pixels equal those of the previous frame, although other frames of the job differ.",
			"A pause in the animation looks like this.",
			"If something should move here, check that simulations are baked over these frames and that their caches are in the upload.", ""},
	}
}

// Look returns the finding of a free preview's picture, which is compared with nothing.
// ok is false for none: a part may well be of one colour.
func Look(seen pixels.Picture) (row FindingRow, ok bool) {
	code := ""
	switch {
	case seen.Defects.Black:
		code = FindingBlack
	case seen.Defects.Pink >= minPink:
		code = FindingPink
	case seen.Defects.Blank == 1:
		code = FindingUniform
	}
	return FindingOf(code)
}

// FindingOf returns the row of a code.
func FindingOf(code string) (row FindingRow, ok bool) {
	table := FindingTable()
	at := slices.IndexFunc(table, func(r FindingRow) bool { return r.Code == code })
	if at < 0 {
		return FindingRow{}, false
	}
	return table[at], true
}

// Finding is what frames of a job have in common that a person should check.
type Finding struct {
	Code            string `json:"code" enum:"black,pink,uniform,blank,repeated" doc:"Stable machine-readable code; see the table of findings."`
	Message         string `json:"message" doc:"What was found, and what it may mean."`
	SuggestedAction string `json:"suggested_action" doc:"What to do if it is not intended."`
	Frames          string `json:"frames" doc:"The frames' numbers and ranges, such as 3,7-9; rerender takes the same."`
	FrameCount      int    `json:"frame_count"`
}

// Findings are the possible findings about a job's frames, the worst first.
type Findings []Finding

// AcceptedFrame is what Find needs of an accepted frame.
type AcceptedFrame struct {
	Frame       int
	Finding     string // its own, "" for none
	PixelSHA256 string
}

// Find collects the findings of a job's accepted frames, which must be ordered by
// number. complete says that all are there: only then can a frame be compared with the
// one before it.
func Find(frames []AcceptedFrame, complete bool) Findings {
	found := map[string]framelist.List{}
	for _, f := range frames {
		if f.Finding != "" {
			found[f.Finding] = append(found[f.Finding], f.Frame)
		}
	}
	if complete {
		found[FindingRepeated] = Repeated(frames)
	}
	return findings(found)
}

// Repeated lists the frames whose pixels are those of the frame before, for longer than
// is usual in the job. What is usual is the length of most runs of equal frames: 1 where
// the job moves, 2 where it is animated on twos, and all frames of a still. Frames with a
// finding of their own are left out.
func Repeated(frames []AcceptedFrame) (repeated framelist.List) {
	var runs [][]AcceptedFrame
	for i, f := range frames {
		switch {
		case f.Finding != "":
		case i > 0 && frames[i-1].Finding == "" && frames[i-1].PixelSHA256 == f.PixelSHA256:
			runs[len(runs)-1] = append(runs[len(runs)-1], f)
		default:
			runs = append(runs, []AcceptedFrame{f})
		}
	}
	count, usual := map[int]int{}, 0
	for _, run := range runs {
		count[len(run)]++
	}
	for length, n := range count {
		if n > count[usual] || (n == count[usual] && length > usual) {
			usual = length
		}
	}
	for _, run := range runs {
		for _, f := range run[min(usual, len(run)):] {
			repeated = append(repeated, f.Frame)
		}
	}
	return repeated
}

// findings writes lists of frames by code as Findings, in the order of the table.
func findings(found map[string]framelist.List) Findings {
	out := Findings{}
	for _, row := range FindingTable() {
		if frames := found[row.Code]; len(frames) > 0 {
			out = append(out, Finding{row.Code, row.Meaning + " " + row.Meant, row.Action, frames.String(), len(frames)})
		}
	}
	return out
}

// NotLookedFor marks a job of a version that did not look for findings.
const NotLookedFor = "-"

// Stored writes findings as a job's row has them: their codes and frames. The texts are
// those of the table at each read, so that they improve for old jobs too.
func (f Findings) Stored() string {
	frames := map[string]string{}
	for _, one := range f {
		frames[one.Code] = one.Frames
	}
	text, err := json.Marshal(frames)
	if err != nil {
		panic(err) // texts are always written
	}
	return string(text)
}

// ReadFindings reads what Stored wrote. NotLookedFor is none. What is unknown or cannot
// be read is left out: a finding is never worth the view of a job.
func ReadFindings(stored string) Findings {
	var frames map[string]string
	if stored == NotLookedFor || json.Unmarshal([]byte(stored), &frames) != nil {
		return Findings{}
	}
	found := map[string]framelist.List{}
	for code, text := range frames {
		if list, err := framelist.Parse(text, contract.MaxFrames); err == nil {
			found[code] = list
		}
	}
	return findings(found)
}

// With returns the findings with one frame more.
func (f Findings) With(code string, frame int) Findings {
	found := map[string]framelist.List{}
	for _, one := range f {
		found[one.Code], _ = framelist.Parse(one.Frames, contract.MaxFrames) // written by this package
	}
	found[code] = found[code].With(frame)
	return findings(found)
}

// FindingsMarkdown prints the table of findings.
func FindingsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Findings\n\nPrinted from `internal/work/framecheck` by `make generate`; do not edit.\n\n" +
		"If you check the frames of a job, findings tell you which to look at. It never fails a job or changes a price. " +
		"A job has `findings: [{code, message, suggested_action, frames, frame_count}]`, the worst first, in the order of this table; `frames` is a list such as `3,7-9`, which a rerender takes as it is. " +
		"`not_finite`, `black`, `pink` and `blank` appear while the job renders, the others once all frames are in. The list of frames has the `finding` of each frame, and the receipt all of them but `repeated`.\n\n" +
		"A [free preview](previews.md) has the findings that one picture alone can have (`black`, `pink`, `uniform`), with what to do before paying.\n\n" +
		"| code | seen | all is well | otherwise |\n|---|---|---|---|\n")
	for _, r := range FindingTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Code, r.Meaning, r.Meant, r.Action)
	}
	b.WriteString("\nThe service looks at the pixels that it decodes itself, and believes the worker's Blender for the others: [what is looked at](pictures.md), by format.\n\n" +
		"- Black is a value of at most 2 of 255 (0.0006 in linear light) in each colour of each pixel. A frame with a transparent pixel is not black: its content may be in its alpha.\n" +
		"- Magenta is red and blue alike and no green. Light, gloss or a view transform such as Filmic or AgX turns it into another colour, which is not looked for.\n" +
		"- Frames repeat when more of them in a row have the same pixels than is usual in the job: more than one where each frame differs, more than two in animation on twos, never in a still. Noise that changes with the frame makes every frame differ, and a GPU gives [a few pixels](gpu.md#two-renders-of-a-frame) another value each time, so it may hide a repeat.\n")
	return b.String()
}

// IsFinding reports whether a code is in the table.
func IsFinding(code string) bool {
	_, ok := FindingOf(code)
	return ok
}
