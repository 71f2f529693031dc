package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// printed returns what a run with these events prints, and whether it passed.
func printed(t *testing.T, packages int, lines ...string) (text string, ok bool) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out, false, packages)
	if err := events(strings.NewReader(strings.Join(lines, "\n")), r.add); err != nil {
		t.Fatal(err)
	}
	ok = r.end()
	return out.String(), ok
}

func TestAPassedPackageIsOneLine(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1,
		`{"Action":"start","Package":"m/a"}`,
		`{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN TestA\n"}`,
		`{"Action":"pass","Package":"m/a","Test":"TestA","Elapsed":0.1}`,
		`{"Action":"output","Package":"m/a","Output":"PASS\n"}`,
		`{"Action":"pass","Package":"m/a","Elapsed":0.2}`)
	if want := "ok  \tm/a\t0.2s\t1 tests\nslowest: m/a 0.2s\n1 passed, 0 failed\n"; text != want || !ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestAllOutputOfAFailedTestIsPrinted(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1,
		`{"Action":"output","Package":"m/a","Test":"TestGood","Output":"good log\n"}`,
		`{"Action":"pass","Package":"m/a","Test":"TestGood"}`,
		`{"Action":"output","Package":"m/a","Test":"TestBad","Output":"first\n"}`,
		`{"Action":"output","Package":"m/a","Test":"TestBad","Output":"second\n"}`,
		`{"Action":"fail","Package":"m/a","Test":"TestBad"}`,
		`{"Action":"output","Package":"m/a","Output":"exit status 1\n"}`,
		`{"Action":"fail","Package":"m/a","Elapsed":0.2}`)
	if want := "first\nsecond\nexit status 1\nFAIL\tm/a\t0.2s\t1 of 2 tests\nslowest: m/a 0.2s\n1 passed, 1 failed\n"; text != want || ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestAResultFromTheCacheIsNotMeasured(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1,
		`{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t(cached)\n"}`,
		`{"Action":"pass","Package":"m/a","Elapsed":0.2}`)
	if strings.Contains(text, "slowest") || !ok {
		t.Errorf("%t, %q", ok, text)
	}
}

// A panic or a time limit ends a package while its tests are under way.
func TestOutputOfATestCutOffByAPanicIsPrinted(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1,
		`{"Action":"output","Package":"m/a","Test":"TestCut","Output":"panic: boom\n"}`,
		`{"Action":"fail","Package":"m/a","Elapsed":0.2}`)
	if !strings.Contains(text, "panic: boom\n") || !strings.HasSuffix(text, "\n0 passed, 1 failed\n") || ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestAFailedBuildIsPrinted(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1,
		`{"ImportPath":"m/a [m/a.test]","Action":"build-output","Output":"a.go:1: undefined: x\n"}`,
		`{"ImportPath":"m/a [m/a.test]","Action":"build-fail"}`,
		`{"Action":"start","Package":"m/a"}`,
		`{"Action":"fail","Package":"m/a","FailedBuild":"m/a [m/a.test]"}`)
	if !strings.Contains(text, "undefined: x\n") || !strings.HasSuffix(text, "\n0 passed, 1 failed\n") || ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestASkippedTestFailsTheRun(t *testing.T) {
	t.Parallel()
	text, ok := printed(t, 1, `{"Action":"skip","Package":"m/a","Test":"TestSkip"}`, `{"Action":"pass","Package":"m/a"}`)
	if !strings.Contains(text, "m/a TestSkip") || !strings.HasSuffix(text, "\n0 passed, 1 failed\n") || ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestAnUntestedPackageFailsTheRun(t *testing.T) {
	t.Parallel()
	if text, ok := printed(t, 2, `{"Action":"pass","Package":"m/a"}`); !strings.HasSuffix(text, "\n0 passed, 1 failed\n") || ok {
		t.Errorf("%t, %q", ok, text)
	}
}

func TestTheBarIsBelowTheLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, true, 2)
	r.add(event{Action: "start", Package: "m/a"})
	r.add(event{Action: "pass", Package: "m/a", Elapsed: 1})
	r.end()
	if text := out.String(); !strings.Contains(text, "0/2 packages") || !strings.Contains(text, "\r\x1b[Kok  \tm/a") || !strings.Contains(text, "1/2 packages") {
		t.Errorf("%q", text)
	}
}

func TestOnlyAPackagesOwnCodeMakesItConcurrent(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"package a\nfunc f() {}\n":             false,
		"package a\nfunc f() { go f() }\n":     true,
		"package a\n// go f()\nvar x = \"go\"": false,
	} {
		p := pkg{Dir: t.TempDir(), GoFiles: []string{"a.go"}}
		if err := os.WriteFile(filepath.Join(p.Dir, "a.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := p.concurrent(); got != want || err != nil {
			t.Errorf("%q: %t, %v", source, got, err)
		}
	}
	if got, err := (pkg{Imports: []string{"sync/atomic"}}).concurrent(); !got || err != nil {
		t.Errorf("a package that imports sync/atomic: %t, %v", got, err)
	}
}

// A handler alone makes memory shared: net/http runs it many times at once.
func TestAllButWhatWaitsForBlenderOrABrowserIsRaced(t *testing.T) {
	t.Parallel()
	const handler = "package a\nimport \"net/http\"\nvar seen = map[string]int{}\nfunc h(w http.ResponseWriter, r *http.Request) { seen[r.URL.Path]++ }\n"
	for _, c := range []struct {
		code, test string
		want       bool
	}{
		{handler, "package a\n", true},
		{handler, "package a\nimport _ \"github.com/chromedp/chromedp\"\n", false},
		{handler, "package a\nvar blender = os.Getenv(\"SVC_BLENDER\")\n", false},
		{handler, "package a\nimport _ \"svc.example/internal/test/story\"\n", false},
		{"// Package a damages.\n//\n//testrun:one-at-a-time\npackage a\n", "package a\n", false},
		{"package a\nfunc f() { go f() }\n", "package a\nvar blender = os.Getenv(\"SVC_BLENDER\")\n", true},
	} {
		p := pkg{Dir: t.TempDir(), GoFiles: []string{"a.go"}, TestGoFiles: []string{"a_test.go"}}
		for name, text := range map[string]string{"a.go": c.code, "a_test.go": c.test} {
			if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := p.raced(); got != c.want || err != nil {
			t.Errorf("%q with %q: %t, %v", c.code, c.test, got, err)
		}
	}
}

// A bar in a file is noise, and /dev/null is a character device like a terminal.
func TestAFileThatIsNoTerminalGetsNoBar(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for _, f := range []*os.File{null, file} {
		if isTerminal(f) {
			t.Errorf("%s counts as a terminal", f.Name())
		}
	}
}

func TestALogSaysThatTheRunGoesOn(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out, false, 2)
	now := r.started
	r.lastLine, r.now = now, func() time.Time { return now }
	for range 2 * int(silence/time.Second) {
		r.tick()
		now = now.Add(time.Second)
	}
	r.add(event{Action: "start", Package: "m/a"})
	r.tick()
	if want := "... 0/2 packages, 0 tests, 0 failed, 30s: building\n... 0/2 packages, 0 tests, 0 failed, 1m0s: a\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}
