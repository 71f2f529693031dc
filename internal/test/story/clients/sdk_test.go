package clients_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/clients/conformance"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// sdk is a client library in another language, whose tests are programs that print JSON.
type sdk struct {
	folder  string
	program func(*testing.T) string
	story   string // a render over a bad wire
	project string // which files of a project are uploaded
	code    string // the mark of its programs in the README
	agent   string // how its calls identify it
}

var (
	pythonSDK = sdk{folder: "../../../../sdk/python", program: func(*testing.T) string { return "python3" },
		story: "tests/story.py", project: "tests/project.py", code: "```python\n", agent: "svc-render-python/"}
	typescriptSDK = sdk{folder: "../../../../sdk/typescript", program: pinnedNode,
		story: "tests/story.mjs", project: "tests/project.mjs", code: "```js\n", agent: "svc-render-typescript/"}
)

// command is a run of the SDK's language in its folder.
func (s sdk) command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(story.Patient(t), s.program(t), arguments...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=error")
	return command
}

// run runs a script of the SDK's tests, and reads the JSON that it prints into told.
func (s sdk) run(t *testing.T, told any, script string, arguments ...string) {
	t.Helper()
	command := s.command(t, append([]string{script}, arguments...)...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	text, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &complaint)
	}
	if complaint.Len() > 0 {
		t.Errorf("%s complains:\n%s", script, &complaint)
	}
	if err := json.Unmarshal(text, told); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
}

// readme is the first program of the SDK's README.
func (s sdk) readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), s.code)
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no program")
	}
	return code
}

// TestThePythonSDKPassesItsUnitTests runs what needs no service: the standards' vectors,
// what a server can send wrongly, and the wheel.
func TestThePythonSDKPassesItsUnitTests(t *testing.T) {
	t.Parallel()
	command := pythonSDK.command(t, "-m", "unittest", "discover", "-s", "tests")
	if output, err := command.CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(output)), "OK") || strings.Contains(string(output), "Ran 0 tests") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestTheTypeScriptSDKPassesItsUnitTests(t *testing.T) {
	t.Parallel()
	command := typescriptSDK.command(t, "--test", "--test-reporter=tap", "tests/units.test.mjs")
	if output, err := command.CombinedOutput(); err != nil || strings.Contains(string(output), "# tests 0") {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestThePythonSDKKeepsItsTypes has another person's checker read every type of the package, and right
// and wrong calls.
func TestThePythonSDKKeepsItsTypes(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(story.Patient(t), "mypy", "--strict", "--cache-dir", t.TempDir(), "svc_render", "tests/typed_caller.py")
	command.Dir = pythonSDK.folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v (scripts/install-tools python installs mypy)\n%s", err, output)
	}
}

// TestTheTypeScriptSDKTakesAndRefusesWhatItsTypesSay compiles a program of right and wrong
// calls as strictly as the compiler can.
func TestTheTypeScriptSDKTakesAndRefusesWhatItsTypesSay(t *testing.T) {
	t.Parallel()
	compiler, err := filepath.Abs(filepath.Join(npmFolder, "typescript", "bin", "tsc"))
	if err != nil {
		t.Fatal(err)
	}
	if output, err := typescriptSDK.command(t, compiler, "-p", "tests").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestTheSDKsHaveTheSameMethods compares the methods of the Python client with those of the
// TypeScript client, but for how names are written.
func TestTheSDKsHaveTheSameMethods(t *testing.T) {
	t.Parallel()
	methods := func(file string, form *regexp.Regexp) (names []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range form.FindAllStringSubmatch(string(text), -1) {
			names = append(names, strings.ToLower(strings.ReplaceAll(found[1], "_", "")))
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	inPython := methods(filepath.Join(pythonSDK.folder, "svc_render", "client.py"), regexp.MustCompile(`(?m)^    def ([a-z]\w*)`))
	inTypeScript := methods(filepath.Join(typescriptSDK.folder, "lib", "client.d.ts"), regexp.MustCompile(`(?m)^    ([a-z]\w*)[(<]`))
	inTypeScript = slices.DeleteFunc(inTypeScript, func(name string) bool { return name == "constructor" })
	if len(inPython) < 20 || !slices.Equal(inPython, inTypeScript) {
		t.Errorf("Python has %v, TypeScript has %v", inPython, inTypeScript)
	}
}

// TestTheSDKsSetTheWalletsAlertByAKeyThatIsAskedFor runs a program in each language, whose key
// is a function.
func TestTheSDKsSetTheWalletsAlertByAKeyThatIsAskedFor(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	for name, command := range map[string]*exec.Cmd{
		"Python": pythonSDK.command(t, "-c", `import json, os, svc_render
asked = []
svc = svc_render.Client(os.environ["SVC_SERVER"], lambda: asked.append(1) or os.environ["SVC_KEY"])
print(json.dumps([svc.set_wallet_alert(500)["alert_below_cents"], svc.wallet()["alert_below_cents"], svc.set_wallet_alert(0)["alert_below_cents"], len(asked)]))`),
		"TypeScript": typescriptSDK.command(t, "--input-type=module", "-e", `import { Client } from "./lib/index.js";
let asked = 0;
const svc = new Client(process.env.SVC_SERVER, async () => (asked++, process.env.SVC_KEY));
console.log(JSON.stringify([(await svc.setWalletAlert(500)).alert_below_cents, (await svc.wallet()).alert_below_cents, (await svc.setWalletAlert(0)).alert_below_cents, asked]));`),
	} {
		c := svc.Caller(story.Credit)
		command.Env = append(command.Env, "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Account.Secret)
		told, err := command.Output()
		if got := strings.ReplaceAll(strings.TrimSpace(string(told)), " ", ""); err != nil || got != "[500,500,null,3]" {
			t.Errorf("%s: %s, %v; want what was set, what is read, nothing, and a key for each call", name, got, err)
		}
	}
}

// TestTheSDKsRenderIntoAFolderThatProvesItself names the frames as the scene does, refuses a
// price above the maximum, and damages the folder. The Go SDK then verifies what the others
// have made.
func TestTheSDKsRenderIntoAFolderThatProvesItself(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		for name, s := range map[string]sdk{"Python": pythonSDK, "TypeScript": typescriptSDK} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := svc.With(t).Caller(story.Credit)
				scene, folder := filepath.Join(t.TempDir(), demo.Filename), filepath.Join(t.TempDir(), "out")
				if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
					t.Fatal(err)
				}
				var told struct {
					Refused, Whole string
					Frames, Pixels []string
					WithoutAFrame  string `json:"without_a_frame"`
					WithAnother    string `json:"with_another"`
				}
				s.run(t, &told, strings.Replace(s.project, "project", "folder", 1), svc.URL, c.Agent.Secret, scene, folder)
				if told.Refused != string(fault.PriceAboveMax) || told.Whole != "" || told.WithoutAFrame != "artifact" || told.WithAnother != "pictures" {
					t.Errorf("the folder: %+v", told)
				}
				// What is painted has a palette, which Blender's pictures do not have.
				if want := "no frame could be compared: 3 are in a format that is not decoded here"; !slices.Equal(told.Pixels, []string{want}) {
					t.Errorf("the check pixels says %q", told.Pixels)
				}
				if slices.Sort(told.Frames); !slices.Equal(told.Frames, []string{"0001.png", "0002.png", "0004.png"}) {
					t.Errorf("the frames are %v", told.Frames)
				}
				if checks, err := client.VerifyFolder(folder, nil); err != nil {
					t.Errorf("Go: %v: %+v", err, checks)
				}
				svc.WantMoney(c.Workspace, story.Credit-3, wallet.Credited, wallet.Reserved, wallet.Captured)
			})
		}
	})
}

func TestThePythonSDKRendersOverABadNetworkAndPaysOnce(t *testing.T) {
	story.EachShared(t, pythonSDK.rendersOverABadWire)
}

func TestTheTypeScriptSDKRendersOverABadNetworkAndPaysOnce(t *testing.T) {
	story.EachShared(t, typescriptSDK.rendersOverABadWire)
}

func (s sdk) rendersOverABadWire(t *testing.T, svc *story.Service) {
	c := svc.Caller(story.Credit)
	wire := badWire(t, svc.URL,
		conformance.Rule{On: "POST /uploads/inspect", Faults: []string{"cut-upload:1000", "status:503:0", "lose-answer"}},
		conformance.Rule{On: "POST /preview", Faults: []string{"lose-answer"}},
		conformance.Rule{On: "POST /start", Faults: []string{"lose-answer", "status:429:0"}, Repeats: "Idempotency-Key"},
		conformance.Rule{On: "GET /events", Faults: []string{"cut-answer:900:0", "forget-place"}},
		conformance.Rule{On: "GET /download", Faults: []string{"status:502:0"}},
		conformance.Rule{On: "GET /receipt", Faults: []string{"cut-answer:100:0"}},
		// The first download is damaged, the second falls silent and resumes where it was.
		conformance.Rule{On: "GET /artifacts/", Faults: []string{"damage", "stall-answer:2000"}, Needs: "Range"},
	)
	scene := filepath.Join(t.TempDir(), demo.Filename)
	if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	var told struct {
		PriceCents     int               `json:"price_cents"`
		Look           []any             `json:"look"`
		FramesOfTwo    int               `json:"frames_of_two"`
		JobID          string            `json:"job_id"`
		Again          string            `json:"again"`
		Frames         []int             `json:"frames"`
		Status         string            `json:"status"`
		ChargedCents   int               `json:"charged_cents"`
		Damaged        string            `json:"damaged"`
		SizeBytes      int64             `json:"size_bytes"`
		Left           []string          `json:"left"`
		Checks         map[string]string `json:"checks"`
		Lie            string            `json:"lie"`
		Refused        [][]any           `json:"refused"`
		AvailableCents int               `json:"available_cents"`
		Jobs           []string          `json:"jobs"`
		Kinds          []string          `json:"kinds"`
		Retried        []string          `json:"retried"`
		Also           map[string]bool   `json:"also"` // what only one SDK does
	}
	s.run(t, &told, s.story, wire.URL, c.Agent.Secret, c.Account.Secret, scene, t.TempDir())

	if complaints := wire.Complaints(); len(complaints) > 0 {
		t.Errorf("on the wire: %v", complaints)
	}
	if told.PriceCents != 4 || told.FramesOfTwo != 2 || told.Status != "completed" || told.ChargedCents != 4 {
		t.Errorf("it reports %+v", told)
	}
	if got := fmt.Sprint(told.Look); got != "[ready 2 ffd8]" { // a JPEG begins so
		t.Errorf("the free look is %s", got)
	}
	slices.Sort(told.Frames)
	if !slices.Equal(told.Frames, []int{1, 2, 3, 4}) {
		t.Errorf("it heard of the frames %v, want each once", told.Frames)
	}
	if told.Again != told.JobID || len(told.Jobs) != 1 || told.Jobs[0] != told.JobID {
		t.Errorf("the jobs are %s, %s and %v, want one", told.JobID, told.Again, told.Jobs)
	}
	if told.Damaged != "refused" || len(told.Left) > 0 {
		t.Errorf("the damaged download: %s, with %v left", told.Damaged, told.Left)
	}
	for _, check := range []string{"signature", "statement", "members", "artifact", "contents", "frames", "manifest", "log", "key"} {
		if told.Checks[check] != "ok" {
			t.Errorf("the check %s is %q: %v", check, told.Checks[check], told.Checks)
		}
	}
	if told.Lie != "members" {
		t.Errorf("the lying receipt fails at %q", told.Lie)
	}
	if got := fmt.Sprint(told.Refused); got != "[[render_not_found 404 true] [legal_acceptance_required 400 true] [invalid_frame_range 400 true] [unauthenticated 401 true]]" {
		t.Errorf("it was refused with %s", got)
	}
	if !slices.Equal(told.Kinds, []string{"capture", "reserve", "credit"}) || told.AvailableCents != story.Credit-4 {
		t.Errorf("the ledger says %v, %d cents are left", told.Kinds, told.AvailableCents)
	}
	for what, held := range told.Also {
		if !held {
			t.Errorf("its own story says that this did not hold: %s", what)
		}
	}
	for _, r := range wire.Calls("GET", "") {
		if agent := r.Header.Get("User-Agent"); !strings.Contains(agent, s.agent) {
			t.Errorf("a call says that it is by %q", agent)
		}
	}
	svc.SettledOnce(c, 4)
}

// badWire starts a proxy on which things go wrong.
func badWire(t *testing.T, service string, rules ...conformance.Rule) *conformance.Wire {
	t.Helper()
	wire, err := conformance.NewWire(service, rules...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(wire.Close)
	return wire
}

func TestTheSDKsSendOnlyWhatTheServiceLacksOfAProject(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		for _, s := range []sdk{pythonSDK, typescriptSDK} {
			s.sendsAProject(t, svc)
		}
	})
}

func (s sdk) sendsAProject(t *testing.T, svc *story.Service) {
	t.Helper()
	c := svc.Caller(story.Credit)
	root := t.TempDir()
	notes := []byte("not in the scene, but of the project")
	for name, content := range map[string][]byte{"film/scene ä.blend": demo.Scene(), "notes.txt": notes, "empty.txt": nil} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var told struct {
		Sent       []int    `json:"sent"`
		FrameCount int      `json:"frame_count"`
		Filename   string   `json:"filename"`
		NotChecked []string `json:"not_checked"`
	}
	folder := filepath.Join(t.TempDir(), "out")
	s.run(t, &told, s.project, svc.URL, c.Agent.Secret, root, "film/scene ä.blend", folder)
	if !slices.Equal(told.NotChecked, []string{"pixels"}) { // what is painted has a palette, which Blender's pictures do not have
		t.Errorf("the folder proves itself but for %v", told.NotChecked)
	}
	if checks, err := client.VerifyFolder(folder, nil); err != nil || slices.ContainsFunc(checks, func(c client.Check) bool { return c.Status == "skipped" }) {
		t.Errorf("Go: %v: %+v", err, checks)
	}
	if said, err := exec.CommandContext(story.Patient(t), apptest.Binary(t), "verify", folder).CombinedOutput(); err != nil || strings.Contains(string(said), "NOT CHECKED") {
		t.Errorf("svc verify: %v\n%s", err, said)
	}
	if all := len(demo.Scene()) + len(notes); !slices.Equal(told.Sent, []int{all, 0, len(notes) + len("more")}) || told.FrameCount != 1 {
		t.Errorf("it reports %+v, want %d bytes, none, and the changed file", told, all)
	}
}

// TestTheFirstProgramsRenderInBlenderAndVerify installs each SDK from the service,
// and runs the ten lines of its README.
func TestTheFirstProgramsRenderInBlenderAndVerify(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(worker.Blender{Path: story.RealBlender(t)}, story.OnCPU)
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []sdk{pythonSDK, typescriptSDK} {
		c := svc.Caller(story.Credit)
		folder := t.TempDir()
		library := s.install(t, svc, folder)
		for name, content := range map[string][]byte{"scene.blend": scene, "first.py": []byte(s.readme(t)), "first.mjs": []byte(s.readme(t))} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := s.command(t, "first"+filepath.Ext(s.story))
		command.Dir = folder
		command.Env = append(os.Environ(), "PYTHONPATH="+library, "PYTHONDONTWRITEBYTECODE=1", "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret)
		output, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "2 frames, 2 cents") || !strings.Contains(string(output), "verified: signature") {
			t.Fatalf("%v\n%s", err, output)
		}
		svc.SettledOnce(c, 2)
	}
}

// install takes the SDK's package from the service, and returns it. Python runs it as it is;
// npm puts it where programs of the folder find it.
func (s sdk) install(t *testing.T, svc *story.Service, folder string) string {
	t.Helper()
	extension := ".whl"
	if s.folder == typescriptSDK.folder {
		extension = ".tgz"
	}
	index := string(story.Get(t, http.MethodGet, svc.URL+"/sdk/", nil).Body)
	found := regexp.MustCompile(`href="(/sdk/([^"]*\` + extension + `))"`).FindStringSubmatch(index)
	if found == nil {
		t.Fatalf("/sdk/ names no package %s:\n%s", extension, index)
	}
	if extension == ".tgz" {
		command := exec.CommandContext(story.Patient(t), "npm", "install", "--no-audit", "--no-fund", "--cache", t.TempDir(), svc.URL+found[1])
		command.Dir = folder
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("npm: %v\n%s", err, output)
		}
		return folder
	}
	packed := story.Get(t, http.MethodGet, svc.URL+found[1], nil).Body
	if sum := sha256.Sum256(packed); !strings.Contains(index, hex.EncodeToString(sum[:])) {
		t.Errorf("/sdk/ does not name the SHA-256 of %s", found[2])
	}
	library := filepath.Join(folder, found[2])
	if err := os.WriteFile(library, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	return library
}
