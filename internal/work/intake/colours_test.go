package intake_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/settings"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/ociotest"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// What the configuration of a project lacks is told before the price, and one that cannot be used
// is refused.
func TestAConfigurationOfColoursIsCheckedBeforeThePrice(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := newService(t, dbtest.Open(t, db.Config{URL: url}))
		files := ociotest.Files()
		files["hostile.ocio"] = strings.NewReplacer("negative.spi1d", "../../etc/passwd", "- !<View> {name: Filmic", "- !<View> {name: Film").Replace(files[ociotest.Config])
		files["broken.ocio"] = "ocio_profile_version: ["
		l := h.listing()
		h.mustSend(string(scene(t)), true)
		for path, text := range files {
			h.mustSend(text, true)
			sum := sha256.Sum256([]byte(text))
			l.Files = append(l.Files, project.Listed{Path: path, SizeBytes: int64(len(text)), Parts: []string{hex.EncodeToString(sum[:])}})
		}
		quoted := func(config string) (*quote.Scene, error) {
			r, err := h.ReceiveProject(t.Context(), h.workspace, l, settings.Settings{OCIO: config})
			if err != nil {
				return nil, err
			}
			made, err := r.Quote(t.Context(), oneFrame(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return &made.Scene, nil
		}
		whole, err := quoted(ociotest.Config)
		if err != nil {
			t.Fatal(err)
		}
		if c := whole.ColorManagement.Config; c == nil || c.Path != ociotest.Config || len(c.SHA256) != 64 || c.View != "Standard" || len(whole.MissingFiles) > 0 || len(whole.Files) < 2 {
			t.Errorf("the scene is %+v, %+v", c, whole.MissingFiles)
		}
		hostile, err := quoted("hostile.ocio")
		if err != nil {
			t.Fatal(err)
		}
		if m := hostile.MissingFiles; len(m) != 1 || m[0].Kind != "lut" || m[0].Path != "../../etc/passwd" {
			t.Errorf("files are missing: %+v", m)
		}
		for config, why := range map[string]string{
			"broken.ocio": "is not valid YAML", "none.ocio": "is not a file of the project", "scene.blend": "", "../config.ocio": "must be a path in the project",
			"/etc/passwd": "must be a path in the project", `a\\b`: "must be a path in the project",
		} {
			if _, err := quoted(config); !fault.Is(err, fault.InvalidSettings) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", config, err)
			}
		}
	})
}
