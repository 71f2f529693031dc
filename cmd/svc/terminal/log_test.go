package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestTheLogHasTheLevelAndTheFormOfItsFlags(t *testing.T) {
	t.Parallel()
	logged := func(args ...string) string {
		t.Helper()
		var flags struct{ LogFlags }
		parser, err := kong.New(&flags)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(args); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		log := flags.logger(&out)
		log.Debug("one", "job_id", "JOB-1")
		log.Info("two", "job_id", "JOB-1")
		log.Warn("three", "job_id", "JOB-1")
		return out.String()
	}
	if got := logged(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "level=INFO msg=two job_id=JOB-1") {
		t.Errorf("without flags it has %q", got)
	}
	if got := logged("--log-level", "debug"); strings.Count(got, "\n") != 3 {
		t.Errorf("of debug and above it has %q", got)
	}
	var line map[string]any
	got := logged("--log-level", "warn", "--log-format", "json")
	if err := json.Unmarshal([]byte(got), &line); err != nil || line["msg"] != "three" || line["job_id"] != "JOB-1" {
		t.Errorf("of warnings in JSON it has %q, %v", got, err)
	}
}
