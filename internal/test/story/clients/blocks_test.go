package clients_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/story"
)

const documents = "../../../../docs/"

// block is a fenced block of a page. What follows its language says what becomes of it:
//
//	nothing          it is run or checked here
//	tab=NAME         the same, or what follows; it is one of several languages of a step
//	by=NAME          a test or a script of this name runs it
//	config           its members are flags of svc serve, which a test of cmd/svc checks
//	not-run: REASON  nothing runs it
type block struct {
	page, language, info, code string
	line                       int
}

var fenced = regexp.MustCompile("(?ms)^( *)```([a-z]*)([^\n]*)\n(.*?)^ *```$")

// printedPages are made from code that has tests of its own: what their blocks show are
// signatures, and calls of svc whose flags a test of cmd/svc checks.
var printedPages = []string{"cli", "cli-operators", "sdk-python", "sdk-typescript", "README"}

// followed are the pages whose commands scripts/check-operate follows on a bare machine. It
// refuses a block that it does not know.
var followed = []string{"install", "configure", "operate", "observe", "upgrade"}

// blocks are the fenced blocks of all pages for users.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	pages, err := filepath.Glob(documents + "*.md")
	if err != nil || len(pages) < 90 {
		t.Fatalf("%v, %v", pages, err)
	}
	for _, path := range pages {
		page := strings.TrimSuffix(filepath.Base(path), ".md")
		if slices.Contains(printedPages, page) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fenced.FindAllStringSubmatchIndex(string(text), -1) {
			of := func(i int) string { return string(text[m[2*i]:m[2*i+1]]) }
			all = append(all, block{page, of(2), blockTab.ReplaceAllString(strings.TrimSpace(of(3)), ""), of(4), 1 + strings.Count(string(text[:m[0]]), "\n")})
		}
	}
	return all
}

var (
	blockTab   = regexp.MustCompile(`^tab=[A-Za-z]+ ?`)
	blockBy    = regexp.MustCompile(`^by=([\w-]+)$`)
	notRun     = regexp.MustCompile(`^not-run: .{10,}$`)
	runHere    = []string{"sh", "python", "ts"}
	checkable  = []string{"json", "ini"}
	asCommands = regexp.MustCompile(`(?m)^(?:svc|sudo|curl|make|go|git|python3?|npm|pip|docker|podman|kubectl|openssl|apt-get|systemctl) `)
)

// TestEveryBlockOfThePagesRunsOrSaysWhyNot holds the marks of all blocks, and counts them.
func TestEveryBlockOfThePagesRunsOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for _, b := range blocks(t) {
		where := fmt.Sprintf("docs/%s.md:%d", b.page, b.line)
		by := blockBy.FindStringSubmatch(b.info)
		switch {
		case notRun.MatchString(b.info):
			counts["not run"]++
		case by != nil:
			counts["run by other tests"]++
			if out, err := exec.CommandContext(t.Context(), "git", "-C", documents+"..", "grep", "-lE", "func "+by[1]+`\(`, "--", "*_test.go").CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%s is run by %s, which does not exist", where, by[1])
			}
		case b.info == "config" && b.language == "json":
			counts["checked"]++
		case b.info != "":
			t.Errorf("%s: the mark %q is none of tab=, by=, config, not-run: REASON", where, b.info)
		case slices.Contains(followed, b.page) && (b.language == "sh" || b.language == "nginx"):
			counts["run by check-operate"]++
		case b.language == "text":
			counts["output"]++
			if asCommands.MatchString(b.code) {
				t.Errorf("%s has commands and is marked as text", where)
			}
		case slices.Contains(runHere, b.language):
			counts["run here"]++
			if !slices.Contains(runnable, b.page) {
				t.Errorf("%s is not run: add the page to runnable, or a mark", where)
			}
		case slices.Contains(checkable, b.language):
			counts["checked"]++
		default:
			t.Errorf("%s: a block in the language %q", where, b.language)
		}
	}
	t.Log(counts)
	if counts["run here"] < 25 {
		t.Errorf("only %d blocks are run", counts["run here"])
	}
}

// runnable are the pages whose blocks are run here, in order, as one reader would.
var runnable = []string{"build", "previews", "first-render", "files", "keys", "overviews", "results", "reuse", "revisions", "sharing", "test-mode", "verify", "verify-independently"}

// unlike are lines that a test must run differently, each with the reason.
var unlike = strings.NewReplacer(
	"svc login --server", ": svc login --server", // it asks in a browser
	" --loop --open ", " --loop ", // it would start a viewer
	"1-250", "1-3", "1-20", "1-3", "--frame 120", "--frame 2", `"frame": 120`, `"frame": 2`, "(quote, 120)", "(quote, 2)", "frame: 120", "frame: 2", // the scene has ten frames
	"go -C ../tools/outside", "go -C $REPOSITORY/tools/outside",
)

// TestTheBlocksOfThePagesRun runs the commands and programs of each page, one after the other,
// against a service and a job that is done.
func TestTheBlocksOfThePagesRun(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	all := blocks(t)
	for _, page := range runnable {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			svc := svc.With(t)
			c := svc.Caller(story.Credit)
			if page == "build" || page == "test-mode" {
				c = svc.TestCaller()
			}
			script := &strings.Builder{}
			script.WriteString(prelude)
			for _, b := range all {
				if b.page != page || !slices.Contains(runHere, b.language) || b.info != "" {
					continue
				}
				writeBlock(script, b)
			}
			folder := readersFolder(t)
			ready := ""
			if page != "build" && page != "test-mode" {
				ready = hasRendered
			}
			command := exec.CommandContext(story.Patient(t), "bash")
			command.Dir = folder
			command.Env = append(os.Environ(), "HOME="+folder, "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret, "REPOSITORY="+absolute(t, documents+".."),
				"PATH="+filepath.Dir(programs.Path(t, programs.Svc))+":"+filepath.Dir(pinnedNode(t))+":"+os.Getenv("PATH"), "PYTHONPATH="+absolute(t, pythonSDK.folder), "PYTHONDONTWRITEBYTECODE=1", "NODE_NO_WARNINGS=1", "SVC_YES=true")
			text := strings.NewReplacer("https://render.example.com", svc.URL, "svc_agent_test_…", c.Agent.Secret, "svc_agent_…", c.Agent.Secret,
				"JOB-…", "$JOB", "UPL-…", "$UPLOAD").Replace(unlike.Replace(script.String()))
			command.Stdin = strings.NewReader(strings.Replace(text, "# READY\n", ready, 1))
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("docs/%s.md: %v\n%s", page, err, output)
			}
		})
	}
}

// hasRendered gives a reader a job that is done, and what the pages have them keep of it.
const hasRendered = `svc render scene.blend --frames 1-3 --out out >ready.log 2>&1 || { cat ready.log; exit 1; }
cp out/signing-key.pem trusted.pem
cp out/checkpoint seen-before
cp out/checkpoint remembered
mkdir earlier && cp out/receipt.json earlier/
`

// prelude begins the script of a page. A refusal is an error for curl, too.
const prelude = `set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@"; }
# READY
JOB=$(jq -r '.predicate.job_id // empty' <(jq -r .payload out/receipt.json 2>/dev/null | base64 -d 2>/dev/null) 2>/dev/null || true)
UPLOAD=$(curl -H "Authorization: Bearer $SVC_KEY" -F file=@scene.blend "$SVC_SERVER/node/v1/uploads/inspect" | jq -r .upload_id)
trap 'echo "in the block at line $AT" >&2' ERR
`

// writeBlock adds a block to the script of its page.
func writeBlock(script *strings.Builder, b block) {
	fmt.Fprintf(script, "AT=%d\n", b.line)
	code := b.code
	if name := map[string]string{"python": "block.py", "ts": "block.ts"}[b.language]; name != "" {
		run, client := "python3", "import os, svc_render\nclient = svc_render.Client(os.environ[\"SVC_SERVER\"], os.environ[\"SVC_KEY\"])\n"
		if b.language == "ts" {
			run, client = "node --experimental-strip-types", "import { Client } from \"svc-render\";\nconst client = new Client(process.env.SVC_SERVER!, process.env.SVC_KEY!);\n"
		}
		if !strings.Contains(code, "Client(") { // the page has made one before
			code = client + code
		}
		if strings.Contains(code, `"out"`) {
			script.WriteString("rm -rf out\n") // another language has rendered into it
		}
		code = strings.ReplaceAll(code, "JOB-…", "$JOB")
		fmt.Fprintf(script, "cat >%s <<END\n%sEND\n%s %[1]s\n", name, escaped(code), run)
		return
	}
	script.WriteString(code)
}

// escaped keeps a program as it is in a document of the shell in which only $JOB is replaced.
func escaped(code string) string {
	code = strings.NewReplacer("\\", "\\\\", "`", "\\`", "$", "\\$").Replace(code)
	return strings.ReplaceAll(code, "\\$JOB", "$JOB")
}

// readersFolder has the files that the pages name.
func readersFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "node_modules"), 0o755), os.Symlink(absolute(t, typescriptSDK.folder), filepath.Join(folder, "node_modules", "svc-render"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"scene.blend", "shot.blend", "shot-v1.blend", "shot-v2.blend", "film/scene.blend", "film/shot.blend"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUnitsInThePagesAreGoodUnits has systemd read each unit of the pages.
func TestUnitsInThePagesAreGoodUnits(t *testing.T) {
	t.Parallel()
	folders := map[string]string{}
	units := map[string][]string{}
	for _, b := range blocks(t) {
		if b.language != "ini" {
			continue
		}
		if folders[b.page] == "" {
			folders[b.page] = t.TempDir()
		}
		name := "svc-of-the-page.service"
		if named := regexp.MustCompile(`^# /etc/systemd/system/(\S+)`).FindStringSubmatch(b.code); named != nil {
			name = named[1]
		}
		path := filepath.Join(folders[b.page], name)
		code := strings.ReplaceAll(b.code, "/usr/local/bin/svc", programs.Path(t, programs.Svc))
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		units[b.page] = append(units[b.page], path)
	}
	for page, paths := range units {
		command := exec.CommandContext(t.Context(), "systemd-analyze", append([]string{"verify", "--man=no"}, paths...)...)
		if output, err := command.CombinedOutput(); err != nil || len(bytes.TrimSpace(output)) > 0 {
			t.Errorf("docs/%s.md: %v\n%s", page, err, output)
		}
	}
	if len(units) < 3 {
		t.Errorf("units of %d pages were read", len(units))
	}
}

// TestBodiesInThePagesHaveTheMembersOfTheInterface finds for each JSON of a page a schema that
// has all its members.
func TestBodiesInThePagesHaveTheMembersOfTheInterface(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(documents + "openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api document
	if err := json.Unmarshal(text, &api.root); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, b := range blocks(t) {
		if b.language != "json" {
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(b.code), &value); err != nil {
			t.Errorf("docs/%s.md:%d: %v", b.page, b.line, err)
			continue
		}
		if b.info != "" {
			continue
		}
		checked++
		if !api.anyFits(value) {
			t.Errorf("docs/%s.md:%d: no schema has all members of %s", b.page, b.line, b.code)
		}
	}
	if checked < 3 {
		t.Errorf("%d bodies were checked", checked)
	}
}

// document is an OpenAPI document.
type document struct{ root map[string]any }

// anyFits says whether a schema of the document has all members of an object.
func (d document) anyFits(value any) bool {
	var fits func(node any) bool
	fits = func(node any) bool {
		switch node := node.(type) {
		case map[string]any:
			if _, is := node["properties"]; is && d.fits(value, node) {
				return true
			}
			for _, child := range node {
				if fits(child) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(node, fits)
		}
		return false
	}
	return fits(d.root)
}

// fits says whether a schema has all members of a value, at any depth. Three dots stand for
// members that the page leaves out.
func (d document) fits(value any, schema map[string]any) bool {
	if reference, is := schema["$ref"].(string); is {
		return d.fits(value, d.find(reference))
	}
	for _, choices := range []string{"allOf", "anyOf", "oneOf"} {
		if list, is := schema[choices].([]any); is && slices.ContainsFunc(list, func(one any) bool { return d.fits(value, one.(map[string]any)) }) {
			return true
		}
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, member := range value {
			of, known := properties[name].(map[string]any)
			if name != "..." && (!known || !d.fits(member, of)) {
				return false
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		return items != nil && !slices.ContainsFunc(value, func(one any) bool { return !d.fits(one, items) })
	}
	return true
}

// find is the schema that a reference names.
func (d document) find(reference string) map[string]any {
	at := any(d.root)
	for part := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		at = at.(map[string]any)[part]
	}
	return at.(map[string]any)
}
