package receipt_test

import (
	"bytes"
	"strings"
	"testing"

	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// partsAndOrigins are receipts with frames that several workers rendered or that were taken
// over, honest ones and such that lie.
func partsAndOrigins(t *testing.T) (cases []judged) {
	t.Helper()
	earlier := honest(t, 3, 2, 11, func(j *receipttest.Job) { j.Receipt.ReceiptID = "RCT-earlier" })
	strips := func(j *receipttest.Job) { j.Receipt.Frames[1].Strips = cut() }
	taken := func(j *receipttest.Job) {
		f := &j.Receipt.Frames[1]
		f.Reused, f.RenderSeconds, f.Times = receipt.Origin{ReceiptID: "RCT-earlier", LogIndex: 2}, 0, receipt.Times{}
		j.Manifest.Frames[1].RenderSeconds = 0
		pack(t, j)
	}
	add := func(name string, c judged, origins ...[]byte) {
		c.name, c.Origins = name, origins
		cases = append(cases, c)
	}
	gpus := func(j *receipttest.Job) {
		strips(j)
		lower := &j.Receipt.Frames[1].Strips[1]
		lower.Above, lower.Alike = strings.Repeat("e", 64), true
	}
	add("strips", honest(t, 3, 5, 11, strips))
	add("strips of GPUs", honest(t, 3, 5, 11, gpus))
	add("a frame taken over, without its origin", honest(t, 3, 5, 11, taken), []byte("{}"), []byte("no receipt"))
	add("a frame taken over, with its origin", honest(t, 3, 5, 11, taken), earlier.Receipt)
	add("another leaf of the origin", honest(t, 3, 5, 11, func(j *receipttest.Job) { taken(j); j.Receipt.Frames[1].Reused.LogIndex = 1 }), earlier.Receipt)
	add("an origin of another workspace", honest(t, 3, 5, 11, func(j *receipttest.Job) { taken(j); j.Receipt.WorkspaceID = "WSP-other" }), earlier.Receipt)
	for name, change := range map[string]func(*receipttest.Job){
		"another picture of the origin": func(j *receipttest.Job) { j.Receipt.Frames[1].PixelSHA256 = j.Receipt.Frames[0].PixelSHA256 },
		"an origin of fewer frames":     func(j *receipttest.Job) { *j = job(t, 1) },
	} {
		other := honest(t, 3, 2, 11, func(j *receipttest.Job) { change(j); j.Receipt.ReceiptID = "RCT-earlier" })
		add(name, honest(t, 3, 5, 11, taken), other.Receipt)
	}
	// With outputs, of which only the bytes must be those of the origin.
	withOutput := func(name, content string) func(*receipttest.Job) {
		return func(j *receipttest.Job) { j.AddOutput(1, name, content); taken(j) }
	}
	had := honest(t, 3, 2, 11, func(j *receipttest.Job) {
		j.AddOutput(1, "depth/0002.exr", "depth")
		pack(t, j)
		j.Receipt.ReceiptID = "RCT-earlier"
	})
	add("an output taken over", honest(t, 3, 5, 11, withOutput("depth/0002.exr", "depth")), had.Receipt)
	add("an output taken over under another name", honest(t, 3, 5, 11, withOutput("depth/0002_2.exr", "depth")), had.Receipt)
	add("another output than the origin's", honest(t, 3, 5, 11, withOutput("depth/0002.exr", "other")), had.Receipt)
	add("an output that the origin lacks", honest(t, 3, 5, 11, withOutput("depth/0002.exr", "depth")), earlier.Receipt)
	add("without the output of the origin", honest(t, 3, 5, 11, taken), had.Receipt)
	cases = append(cases, configurations(t)...)
	hash := func(digit string) string { return string(bytes.Repeat([]byte(digit), 64)) }
	for name, lie := range map[string]struct {
		change   func(*receipttest.Job)
		from, to string
	}{
		"strips that do not meet":               {strips, `"from":20`, `"from":21`},
		"a strip without rows":                  {strips, `"to":54`, `"to":20`},
		"a strip before the picture":            {strips, `"from":0`, `"from":-1`},
		"strips that disagree at the cut":       {strips, `"above":"` + hash("c"), `"above":"` + hash("d")},
		"a cut at the edge of the picture":      {strips, `"above":"` + hash("c") + `"`, `"above":"` + hash("c") + `","below":"` + hash("c") + `"`},
		"a strip without a hash":                {strips, hash("b"), hash("B")},
		"strips of GPUs that nobody compared":   {gpus, `,"alike":true`, ""},
		"a GPU's rows that are missing":         {gpus, `"above":"` + hash("e") + `",`, ""},
		"equal strips as noise":                 {gpus, hash("e"), hash("c")},
		"one strip alone":                       {strips, `{"from":0,"to":20,"sha256":"` + hash("a") + `","below":"` + hash("c") + `"},`, ""},
		"a frame of a later receipt":            {taken, `"log_index":2}`, `"log_index":5}`},
		"a frame before the log":                {taken, `"log_index":2}`, `"log_index":-2}`},
		"a frame of what is no receipt":         {taken, `"RCT-earlier"`, `"earlier"`},
		"a frame that was taken over and timed": {taken, `"render_seconds":0,"reused"`, `"render_seconds":1,"reused"`},
	} {
		c := honest(t, 3, 5, 11, lie.change)
		c.Receipt = unset(t, c.Receipt)
		add(name+", before the lie", judged{Receipt: c.Receipt, Keys: c.Keys})
		add(name, judged{Receipt: retyped(t, c.Receipt, lie.from, lie.to), Keys: c.Keys})
	}
	return cases
}

// configurations are receipts of a project with an OpenColorIO configuration, an honest one and
// such that lie.
func configurations(t *testing.T) (cases []judged) {
	t.Helper()
	hash := func(digit string) string { return string(bytes.Repeat([]byte(digit), 64)) }
	ordered := func(j *receipttest.Job) {
		r := &j.Receipt
		r.Input = receipt.InputOf(r.Input.File, []receipt.InputFile{
			{Path: "config.ocio", SHA256: hash("c"), SizeBytes: 9}, {Path: "other.ocio", SHA256: hash("d"), SizeBytes: 9}, {Path: "shot.blend", SHA256: r.Input.SHA256, SizeBytes: r.Input.SizeBytes},
		})
		r.Settings.OCIO = "config.ocio"
		config, err := r.Input.ConfigOf(r.Settings.OCIO)
		if err != nil {
			t.Fatal(err)
		}
		r.OCIO = config
	}
	c := honest(t, 3, 5, 11, ordered)
	c.Receipt = unset(t, c.Receipt)
	cases = append(cases, judged{name: "a configuration", Receipt: c.Receipt, Keys: c.Keys})
	member := `"ocio":{"path":"config.ocio","sha256":"` + hash("c") + `"}`
	for name, to := range map[string]string{
		"the hash of another":    `"ocio":{"path":"config.ocio","sha256":"` + hash("d") + `"}`,
		"another file":           `"ocio":{"path":"other.ocio","sha256":"` + hash("d") + `"}`,
		"none, which is ordered": `"next":1`,
		"no hash":                `"ocio":{"path":"config.ocio"}`,
		"nothing":                `"ocio":{}`,
	} {
		cases = append(cases, judged{name: "a configuration: " + name, Receipt: retyped(t, c.Receipt, member, to), Keys: c.Keys})
	}
	for name, from := range map[string]string{"one that is not ordered": `"settings":{"ocio":"config.ocio"},`, "one that is not in the project": `{"path":"config.ocio","sha256":"` + hash("c") + `","size_bytes":9},`} {
		cases = append(cases, judged{name: "a configuration: " + name, Receipt: retyped(t, c.Receipt, from, ""), Keys: c.Keys})
	}
	return cases
}

// job is a complete one of n frames.
func job(t *testing.T, n int) receipttest.Job {
	t.Helper()
	j, err := receipttest.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// unset is a receipt without the tree over its frames, which would tell each change of them.
func unset(t *testing.T, envelope []byte) []byte {
	t.Helper()
	r, err := receipt.Open(envelope, []signingkey.Public{testKey(t, "a").Public()})
	if err != nil {
		t.Fatal(err)
	}
	r.FrameSet = nil
	return sign(t, r)
}
