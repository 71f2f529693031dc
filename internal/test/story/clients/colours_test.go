package clients_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/ociotest"
	"svc.example/internal/test/story"
)

// An SDK orders a project in the colours of a configuration that lies elsewhere. Its LUT is
// missed by name, and the receipt, which verifies, names the configuration's hash.
func (s sdk) ordersColours(t *testing.T, svc *story.Service) {
	c := svc.Caller(story.Credit)
	root, studio := t.TempDir(), t.TempDir()
	ociotest.Write(t, studio)
	if err := os.WriteFile(filepath.Join(root, demo.Filename), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	var told struct {
		Missing, None []struct{ Kind, Path string }
		Chosen        string
		Receipt       struct{ Path, SHA256 string }
	}
	s.run(t, &told, strings.Replace(s.project, "project", "colours", 1), svc.URL, c.Agent.Secret, root, demo.Filename, studio, ociotest.Config, ociotest.LUT)
	sum := sha256.Sum256([]byte(ociotest.Files()[ociotest.Config]))
	if len(told.Missing) != 1 || told.Missing[0].Kind != "lut" || filepath.Base(told.Missing[0].Path) != filepath.Base(ociotest.LUT) || len(told.None) > 0 || told.Chosen != ociotest.Config || told.Receipt.Path != ociotest.Config || told.Receipt.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: %+v", s.project, told)
	}
}

func TestThePythonSDKOrdersInOwnColours(t *testing.T) {
	story.EachShared(t, pythonSDK.ordersColours)
}

func TestTheTypeScriptSDKOrdersInOwnColours(t *testing.T) {
	story.EachShared(t, typescriptSDK.ordersColours)
}
