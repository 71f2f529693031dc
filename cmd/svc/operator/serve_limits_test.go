package operator

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/alecthomas/kong"

	"svc.example/internal/test/apptest"
)

// TestLimitsSayWhatTheFlagsSay runs a service by flags and compares every published
// figure that a flag sets.
func TestLimitsSayWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags                                     []string
		accepts                                   bool
		perMinute, burst, unstarted, frameSeconds float64
		ofUpload, ofDay                           float64 // free previews
	}{
		"none": {nil, true, 60, 20, 5 << 30, 7200, 3, 20},
		"unusual": {[]string{"--rate-per-minute=7", "--rate-burst=3", "--unstarted-storage=12MiB", "--frame-time=90s", "--no-accept-jobs", "--free-previews=5,8"},
			false, 7, 3, 12 << 20, 90, 5, 8},
		"no limit": {[]string{"--rate-per-minute=0", "--rate-burst=3", "--free-previews=0"}, true, 0, 0, 5 << 30, 7200, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var serve Serve
			parser, err := kong.New(&serve, kong.Vars{"data": "./data"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(append(c.flags, "--data="+t.TempDir(), "--worker=none", "--listen=127.0.0.1:0")); err != nil {
				t.Fatal(err)
			}
			cfg, err := serve.service()
			if err != nil {
				t.Fatal(err)
			}
			_, url := apptest.Start(t, cfg)
			limits, capabilities := read(t, url+"/v1/limits"), read(t, url+"/v1/capabilities")
			for member, want := range map[string]any{
				"rate_limit":              map[string]any{"requests_per_minute_per_client": c.perMinute, "burst": c.burst},
				"workspace_rate_limit":    map[string]any{"requests_per_minute": 5 * c.perMinute, "burst": 5 * c.burst},
				"unstarted_storage_bytes": c.unstarted,
				"maximum_frame_seconds":   c.frameSeconds,

				"free_previews_per_upload": c.ofUpload, "free_previews_per_day": c.ofDay,
			} {
				if got := limits[member]; !reflect.DeepEqual(got, want) {
					t.Errorf("%s is %v, want %v", member, got, want)
				}
			}
			if !reflect.DeepEqual(capabilities["limits"], limits) {
				t.Errorf("capabilities say %v, limits %v", capabilities["limits"], limits)
			}
			if got := capabilities["availability"].(map[string]any)["accepting_jobs"]; got != c.accepts {
				t.Errorf("accepting_jobs is %v", got)
			}
		})
	}
}

func TestTheLimitsOfFreePreviewsAreTwoNumbersOrNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*previewLimits{
		"3,20": {Upload: 3, Day: 20}, "0": {}, "1,10000": {Upload: 1, Day: 10000},
		"": nil, "3": nil, "3,": nil, "0,20": nil, "3,0": nil, "3,20,1": nil, "-1,20": nil, "3,10001": nil, "three,20": nil,
	} {
		var got previewLimits
		err := got.UnmarshalText([]byte(text))
		if (want == nil) != (err != nil) || (want != nil && got != *want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// read returns the object at an address.
func read(t *testing.T, address string) (object map[string]any) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&object); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, res.StatusCode, err)
	}
	return object
}
