package intake_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/colour"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/quote"
)

// The file of these tests is of Blender 3.4.
// The file asks for sRGB, Filmic and Low Contrast.
func TestAFilesColorsAreJudgedByTheBlendersThatAreOnline(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../../render/blendfile/testdata/colors.blend")
	if err != nil {
		t.Fatal(err)
	}
	all := colour.Of(304)
	few := colour.Offer{Displays: []colour.Display{{Name: "sRGB", Views: []string{"Standard"}}}, Looks: all.Looks, Spaces: all.Spaces}
	lie := colour.Offer{Displays: []colour.Display{{Name: "sRGB", Views: []string{"\x1b[2J"}}}}
	huge := colour.Offer{Displays: []colour.Display{{Name: "sRGB", Views: slices.Repeat([]string{"Standard"}, 10000)}}}
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		key := h.nodeKey()
		for name, c := range map[string]struct {
			online []colour.Offer
			lack   int // workers that lack something; -1 for no warning
		}{
			"all have all":               {[]colour.Offer{all, all}, -1},
			"one has no Filmic":          {[]colour.Offer{all, few}, 1},
			"two have no Filmic":         {[]colour.Offer{few, few, all}, 2},
			"one reports the impossible": {[]colour.Offer{lie}, -1},
			"one reports too much":       {[]colour.Offer{huge}, -1},
			"an old worker reports none": {[]colour.Offer{{}}, -1},
			"a liar hides no true lack":  {[]colour.Offer{lie, few}, 1},
		} {
			workers := make([]string, 0, len(c.online))
			for _, offer := range c.online {
				workerID := id.New(id.Node)
				workers = append(workers, workerID)
				h.must(func(tx *db.Tx) error {
					return dispatch.AddWorker(t.Context(), tx, dispatch.Worker{WorkerID: workerID, KeyID: key, Name: name, Renderer: contract.RendererID, BlenderVersion: "3.4.1", Colors: offer})
				})
			}
			inspected, err := h.inspect(file)
			if err != nil {
				t.Fatal(err)
			}
			lack := -1
			for _, w := range inspected.Quote.Warnings {
				if w.Code == quote.WarnColors {
					lack = int(w.Detail.(map[string]any)["missing"].([]any)[0].(map[string]any)["workers"].(float64))
				}
			}
			if lack != c.lack {
				t.Errorf("%s: %d workers lack something, want %d: %+v", name, lack, c.lack, inspected.Quote.Warnings)
			}
			for _, workerID := range workers {
				if err := (&dispatch.Workers{DB: h.DB}).MarkOffline(t.Context(), workerID); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestAFilesVersionIsJudgedByTheBlenderThatWillRender(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		key := h.nodeKey()
		for name, c := range map[string]struct {
			online  []string
			warned  bool
			refused bool
		}{
			"no worker":                {},
			"the contract's":           {online: []string{contract.BlenderVersion}},
			"the file's":               {online: []string{"3.4.1", "3.4.1"}},
			"an older one":             {online: []string{"3.3.0"}, warned: true},
			"an older major":           {online: []string{"2.93.1"}, refused: true},
			"older ones of two minds":  {online: []string{"2.93.1", "3.3.0"}},
			"one that says no version": {online: []string{"unknown"}},
		} {
			workers := make([]string, 0, len(c.online))
			for _, v := range c.online {
				workerID := id.New(id.Node)
				workers = append(workers, workerID)
				h.must(func(tx *db.Tx) error {
					return dispatch.AddWorker(t.Context(), tx, dispatch.Worker{WorkerID: workerID, KeyID: key, Name: name, Renderer: contract.RendererID, BlenderVersion: v})
				})
			}
			inspected, err := h.inspect(scene(t))
			if got := fault.Is(err, fault.FileTooNew); got != c.refused || err != nil && !got {
				t.Errorf("%s: %v, want a refusal: %v", name, err, c.refused)
			}
			warned := slices.ContainsFunc(inspected.Quote.Warnings, func(w quote.Warning) bool { return w.Code == quote.WarnNewerFile })
			if warned != c.warned {
				t.Errorf("%s: warnings %+v", name, inspected.Quote.Warnings)
			}
			for _, workerID := range workers {
				if err := (&dispatch.Workers{DB: h.DB}).MarkOffline(t.Context(), workerID); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// inspect sends a file and prices its own range.
func (h service) inspect(file []byte) (intake.Inspection, error) {
	received, err := h.Receive(h.t.Context(), workspace, intake.File{Name: "scene.blend", Body: bytes.NewReader(file)})
	if err != nil {
		return intake.Inspection{}, err
	}
	return received.Quote(h.t.Context(), quote.RequestedFrames{}, nil)
}

func (h service) nodeKey() (keyID string) {
	h.t.Helper()
	h.must(func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(h.t.Context(), tx, "test")
		keyID = key.KeyID
		return err
	})
	return keyID
}
