package blender_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/worker"
)

// addOnArchive takes an archive of the add-on from the service, and returns where it lies.
func addOnArchive(svc *story.Service, form string) string {
	svc.T.Helper()
	index := story.Get(svc.T, http.MethodGet, svc.URL+links.AddOnPath, nil).Body
	found := regexp.MustCompile(`href="(/blender/(svc_render_addon-` + form + `\.zip))"`).FindSubmatch(index)
	if found == nil {
		svc.T.Fatalf("the page of the add-on names no archive %s:\n%s", form, index)
	}
	path := filepath.Join(svc.T.TempDir(), string(found[2]))
	if err := os.WriteFile(path, story.Get(svc.T, http.MethodGet, svc.URL+string(found[1]), nil).Body, 0o600); err != nil {
		svc.T.Fatal(err)
	}
	return path
}

// desk is a Blender of an artist, in which the add-on is installed.
type desk struct {
	t       *testing.T
	svc     *story.Service
	server  string // the service's address, as they know it
	blender string
	always  []string // what every run of it is told
	screen  []string // what a run with a window begins with; nil = without one
	home    string   // Blender's configuration, scripts and extensions
	folder  string   // their scenes
	ocio    string   // the OpenColorIO configuration of their Blender
}

// newDesk is a Blender in which nothing is installed. Its arguments come before all others.
func newDesk(svc *story.Service, blender string, always ...string) desk {
	return desk{t: svc.T, svc: svc, server: svc.URL, blender: blender, always: always, home: svc.T.TempDir(), folder: svc.T.TempDir()}
}

// legacyDesk installs the legacy add-on, as the service gives it, by Blender's own operator.
func legacyDesk(svc *story.Service) desk {
	svc.T.Helper()
	a := newDesk(svc, story.RealBlender(svc.T))
	a.run(nil, "-b", "--python-exit-code", "1", "--python-expr", fmt.Sprintf(
		"import bpy; bpy.ops.preferences.addon_install(filepath=%q); bpy.ops.preferences.addon_enable(module='svc_render_addon'); bpy.ops.wm.save_userpref()", addOnArchive(svc, `[^"]*-legacy`)))
	return a
}

// command is their Blender, which knows nothing of this machine's user.
func (a desk) command(arguments ...string) *exec.Cmd {
	arguments = slices.Concat(a.screen, []string{a.blender}, a.always, arguments)
	ctx, cancel := context.WithTimeout(a.t.Context(), 4*await.Patience) // a step has many events
	a.t.Cleanup(cancel)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), "LIBGL_ALWAYS_SOFTWARE=1", "BLENDER_USER_CONFIG="+filepath.Join(a.home, "config"), "BLENDER_USER_SCRIPTS="+filepath.Join(a.home, "scripts"),
		"BLENDER_USER_EXTENSIONS="+filepath.Join(a.home, "extensions"), "HOME="+a.home, "SVC_KEY=", "SVC_SERVER=", "OCIO="+a.ocio)
	return command
}

// run runs their Blender to its end. see gets each line that it prints.
func (a desk) run(see func(line string), arguments ...string) {
	a.t.Helper()
	command := a.command(arguments...)
	out, err := command.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	command.Stderr = command.Stdout
	if err := command.Start(); err != nil {
		a.t.Fatal(err)
	}
	var said bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if see != nil {
			see(lines.Text())
		}
	}
	if err := command.Wait(); err != nil {
		a.t.Fatalf("%v: %v\n%s", arguments, err, &said)
	}
}

// does runs a step of tests/artist.py, and reads what it found into told.
func (a desk) does(step string, told any, see func(line string)) {
	a.t.Helper()
	path := filepath.Join(a.t.TempDir(), "told.json")
	script, err := filepath.Abs(filepath.Join(story.AddOn, "tests", "artist.py"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.run(see, "-b", "--python-exit-code", "1", "--python", script, "--", step, a.server, a.folder, path)
	text, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := json.Unmarshal(text, told); err != nil {
		a.t.Fatalf("%s: %v\n%s", step, err, text)
	}
}

// letIn answers a device's code as its workspace's person does on the page.
func letIn(svc *story.Service, c story.Caller, code string) {
	svc.T.Helper()
	server := &oauth.Server{DB: svc.App.DB, Clients: oauth.NewClients(outbound.New(outbound.Config{}), nil)}
	program, err := server.Clients.Get(svc.T.Context(), oauth.BlenderAddOn)
	if err == nil {
		err = server.AllowDevice(svc.T.Context(), code, program, oauth.Terms{WorkspaceID: c.Workspace, SpendLimitCents: 1000, Days: 30})
	}
	if err != nil {
		svc.T.Errorf("let the add-on in by %s: %v", code, err)
	}
}

// signIn signs the artist in by the code that the add-on shows.
func (a desk) signIn(c story.Caller, told any) {
	a.t.Helper()
	a.does("sign-in", told, func(line string) {
		if code, is := strings.CutPrefix(line, "CODE "); is {
			letIn(a.svc, c, code)
		}
	})
}

// pricedScene is what tests/artist.py reports about a file that it had priced.
type pricedScene struct {
	Untouched bool                `json:"untouched"`
	Filename  string              `json:"filename"`
	Frames    int                 `json:"frames"`
	Missing   []map[string]string `json:"missing"`
	Warnings  []string            `json:"warnings"`
}

// TestAnArtistRendersFromBlenderAndNothingOfTheFileChanges is the add-on without its panel,
// in a real Blender, with a real Blender as worker.
func TestAnArtistRendersFromBlenderAndNothingOfTheFileChanges(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(worker.Blender{Path: story.RealBlender(t)}, story.OnCPU)
	legacyDesk(svc).rendersAndChangesNothing()
}

// rendersAndChangesNothing is the artist's story: sign in, price files of several kinds, look,
// order, close Blender in the middle, open it again, sign out.
func (a desk) rendersAndChangesNothing() {
	t, svc := a.t, a.svc
	t.Helper()
	c := svc.Caller(story.Credit)
	var signedIn struct {
		Mode           string `json:"mode"`
		Server         string `json:"server"`
		AvailableCents int    `json:"available_cents"`
	}
	a.signIn(c, &signedIn)
	if signedIn.Mode != "0o600" || signedIn.Server != svc.URL || signedIn.AvailableCents != story.Credit {
		t.Errorf("signed in: %+v", signedIn)
	}

	var prices struct {
		Saved, Unsaved, Missing, Linked pricedScene
		Still                           []int
	}
	a.does("prices", &prices, nil)
	for name, p := range map[string]pricedScene{"saved": prices.Saved, "unsaved": prices.Unsaved, "missing": prices.Missing, "linked": prices.Linked} {
		if !p.Untouched {
			t.Errorf("%s: the open file was changed", name)
		}
		if name != "missing" && (len(p.Missing) > 0 || slices.Contains(p.Warnings, "missing_files") || slices.Contains(p.Warnings, "linked_libraries")) {
			t.Errorf("%s: not everything was packed: %+v", name, p)
		}
	}
	if prices.Saved.Filename != "Szene ä 影.blend" || prices.Saved.Frames != 3 || prices.Unsaved.Filename != "untitled.blend" {
		t.Errorf("the files are %+v and %+v", prices.Saved, prices.Unsaved)
	}
	if !slices.Equal(prices.Still, []int{2, 2, 1}) {
		t.Errorf("a still is the frames %v", prices.Still)
	}
	if m := prices.Missing; m.Filename != "before.blend" || !slices.Contains(m.Warnings, "missing_files") || len(m.Missing) != 1 ||
		m.Missing[0]["collection"] != "images" || m.Missing[0]["name"] != "wall" || m.Missing[0]["path"] != filepath.Join(a.folder, "gone.png") {
		t.Errorf("what is missing: %+v", m)
	}

	a.sendsAProject()

	var ordered struct {
		Look  []string `json:"look"`
		JobID string   `json:"job_id"`
	}
	a.does("order", &ordered, nil)
	if !slices.Equal(ordered.Look, []string{"ready", "ffd8"}) {
		t.Errorf("the free look is %v", ordered.Look)
	}

	// Blender was closed in the middle. Another one brings the frames, finds the job whose
	// start was never answered, and starts nothing.
	var reopened struct {
		Jobs    [][]any  `json:"jobs"`
		Folders []string `json:"folders"`
	}
	a.does("reopen", &reopened, nil)
	beside := []any{"keys.json", "proof.json", "receipt.json"}
	want := [][]any{
		{"lost", "fetched", "completed", 1.0, []any{"frame_0001.png"}, beside},
		{"Szene ä 影", "fetched", "completed", 2.0, []any{"frame_0001.png", "frame_0002.png"}, beside},
		{"s010", "fetched", "completed", 2.0, []any{"frame_0001.png", "frame_0002.png"}, beside},
	}
	if fmt.Sprint(reopened.Jobs) != fmt.Sprint(want) {
		t.Errorf("the jobs are\n%v, want\n%v", reopened.Jobs, want)
	}
	for _, folder := range reopened.Folders {
		output, err := exec.CommandContext(story.Patient(t), apptest.Binary(t), "verify", filepath.Join(folder, "receipt.json"), "--frames", folder,
			"--keys", filepath.Join(folder, "keys.json"), "--require", "log,key").CombinedOutput()
		if err != nil {
			t.Errorf("svc verify: %v\n%s", err, output)
		}
	}
	a.rendersBelowACeiling()
	a.bringsWhatTheCompositorWrites()
	a.loadsFramesIntoTheFile()

	var out struct {
		Server  string `json:"server"`
		Refused bool   `json:"refused"`
	}
	a.does("sign-out", &out, nil)
	if out.Server != "" || !out.Refused {
		t.Errorf("after signing out: %+v", out)
	}
}

// rendersBelowACeiling has a scene rendered by one call of the operator, which starts nothing that
// costs more than it is told.
func (a desk) rendersBelowACeiling() {
	a.t.Helper()
	var told struct {
		Refused string
		Started int
		Frames  []string
	}
	a.does("render", &told, nil)
	if !strings.Contains(told.Refused, "The price is 2 cents, and at most 1 are allowed. Nothing was started.") || told.Started != 0 {
		a.t.Errorf("above the ceiling: %q, %d started", told.Refused, told.Started)
	}
	if !slices.Equal(told.Frames, []string{"frame_0001.png", "frame_0002.png"}) {
		a.t.Errorf("the frames are %v", told.Frames)
	}
}

// sendsAProject has a scene priced and rendered with the files next to it, and asks
// what Blender and the service list of them.
func (a desk) sendsAProject() {
	t := a.t
	t.Helper()
	type priced struct {
		Untouched              bool
		Missing, Differ, Files [][]string
	}
	var told struct {
		Whole, Gone priced
		Colours     []string
		Arrived     []any
	}
	a.does("project", &told, nil)
	spare := []string{"spare.png", "Blender lists it, but the picture does not need it", "images", "spare.png"}
	files := [][]string{
		{"image", "lib/tex/blue.png", "found"},
		{"image", "tex/lamp.ies", "found"},
		{"image", "tex/spare.png", "unused"},
		{"library", "lib/library.blend", "found"},
		{"sequence", "tex/run_0001.png", "found"},
	}
	if got, want := told.Whole, (priced{Untouched: true, Missing: [][]string{}, Differ: [][]string{spare}, Files: files}); !reflect.DeepEqual(got, want) {
		t.Errorf("the project is\n%+v, want\n%+v", got, want)
	}
	// The sequence on the left, the library's picture on the right.
	if !slices.Equal(told.Colours, []string{"r", "b", "g", "b"}) {
		t.Errorf("the frames show %v", told.Colours)
	}
	// The first frame is here while the job is rendered; a damaged one is fetched again, and nothing else is left.
	if got := fmt.Sprint(told.Arrived); got != "[ rendering [frame_0001.png] true []]" {
		t.Errorf("frames arrive as %s", got)
	}
	if got, want := told.Gone.Missing, [][]string{{"gone.png", "images", "gone.png"}}; !told.Gone.Untouched || !reflect.DeepEqual(got, want) {
		t.Errorf("with a picture that is gone: %+v, want %v missing", told.Gone, want)
	}
}

// screened is the desk with an invisible screen, which is kept in a file.
func (a desk) screened() (desk, string) {
	folder := a.t.TempDir()
	a.screen = []string{"xvfb-run", "-a", "-s", "-screen 0 1280x900x24 -fbdir " + folder}
	return a, filepath.Join(folder, "Xvfb_screen0")
}

// slowLine leads to a service over a connection of one mebibyte a second.
func slowLine(svc *story.Service) string {
	svc.T.Helper()
	target, err := url.Parse(svc.URL)
	if err != nil {
		svc.T.Fatal(err)
	}
	line := httptest.NewUnstartedServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.Out.Body != nil {
			r.Out.Body = &slowBody{r.Out.Body, r.In.Context()}
		}
	}})
	// What the kernel holds counts as sent: it holds little.
	line.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetReadBuffer(64 << 10)
		}
	}
	line.Start()
	svc.T.Cleanup(line.Close)
	return line.URL
}

// slowBody is read at a mebibyte a second.
type slowBody struct {
	io.ReadCloser
	caller context.Context
}

func (b *slowBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-time.After(time.Duration(n) * time.Second >> 20):
	case <-b.caller.Done():
		return n, b.caller.Err()
	}
	return n, err
}

// TestThePanelOfTheAddOnLeadsFromTheCodeToTheFrames presses the panel's buttons in a real
// Blender with a window, on an invisible screen.
func TestThePanelOfTheAddOnLeadsFromTheCodeToTheFrames(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	svc.Worker(worker.Blender{Path: story.RealBlender(t)}, story.OnCPU)
	legacyDesk(svc).pressesThePanel()
}

// pressesThePanel leads from the code to the frames, over a slow connection, in one window and
// in two.
func (a desk) pressesThePanel() {
	t, svc := a.t, a.svc
	t.Helper()
	c := svc.Caller(story.Credit)
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(a.folder, "shot 010.blend")
	if err := os.WriteFile(path, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(story.AddOn, "tests", "window.py"))
	if err != nil {
		t.Fatal(err)
	}
	pictures := t.TempDir()
	if kept := os.Getenv("SVC_TEST_ADDON_PICTURES"); kept != "" {
		pictures = kept
	}
	tells := filepath.Join(t.TempDir(), "told.json")
	screened, shown := a.screened()
	screened.run(func(line string) {
		if code, is := strings.CutPrefix(line, "CODE "); is {
			letIn(svc, c, code)
		}
	}, "--python-exit-code", "1", "--window-geometry", "0", "0", "1280", "900", path, "--python", script, "--", slowLine(svc), pictures, tells, shown)
	text, err := os.ReadFile(tells)
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Error     string    `json:"error"`
		Note      string    `json:"note"`
		Price     int       `json:"price"`
		Untouched bool      `json:"untouched"`
		Pictures  [][]any   `json:"pictures"` // name, and how many values its bytes have
		Frames    []string  `json:"frames"`
		Ticks     []float64 `json:"ticks"`
		Undone    float64   `json:"undone"` // where the camera is after one step back
		Redone    float64   `json:"redone"`
		Selected  bool      `json:"selected"`  // the object whose datablock is shown, and no other
		Shown     [][]any   `json:"shown"`     // image editors: source and frames
		Callbacks int       `json:"callbacks"` // of the add-on in Blender's main thread, while it sends
		Slow      int       `json:"slow"`      // of these, longer than a thirtieth of a second
		Differ    [][]string
		Sight     []any    `json:"sight"`   // the window's size, whether its picture is calm, and whether the panel's end is in it
		Windows   []any    `json:"windows"` // before the look is shown, after it, and whether an open editor shows it
		Status    []string `json:"status"`  // the status bar's line while the job is rendered
		Said      []string `json:"said"`    // after its end
		Notice    []string `json:"notice"`
		Loaded    []string `json:"loaded"` // images of the frames, by source
		Played    int      `json:"played"` // frames that differ, each of which the player has shown
	}
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	if told.Error != "" || told.Note != "" || told.Price != 2 || !told.Untouched || len(told.Pictures) != 12 || !slices.Equal(told.Frames, []string{"frame_0001.png", "frame_0002.png"}) {
		t.Errorf("the panel told %+v", told)
	}
	if fmt.Sprint(told.Sight) != "[1280 900 true true]" {
		t.Errorf("where Blender opens the render properties, without a scroll, the panel's sight is %v", told.Sight)
	}
	if told.Undone != 1 || told.Redone != 2 {
		t.Errorf("one step back the camera is at %v, and again forth at %v: the add-on added steps", told.Undone, told.Redone)
	}
	if !told.Selected || fmt.Sprint(told.Shown) != "[[SEQUENCE 2]]" {
		t.Errorf("the object of a datablock is selected: %v; image editors show %v", told.Selected, told.Shown)
	}
	if told.Callbacks < 10 || told.Slow > 0 {
		t.Errorf("while a file was sent, %d of %d callbacks of the add-on held the window for longer than a thirtieth of a second", told.Slow, told.Callbacks)
	}
	if fmt.Sprint(told.Differ) != "[[spare.png spare]]" {
		t.Errorf("Blender and the service list other files: %v", told.Differ)
	}
	if !slices.Equal(told.Loaded, []string{"SEQUENCE"}) {
		t.Errorf("the frames are loaded as the images %q", told.Loaded)
	}
	if fmt.Sprint(told.Windows) != "[2 2 true]" || told.Played != 2 {
		t.Errorf("two windows: %v; the player has shown %d frames", told.Windows, told.Played)
	}
	done := "shot 010 is done: 2 frames in " + filepath.Join(pictures, "frames") + string(filepath.Separator)
	said := func(lines []string, what string) bool { return len(lines) == 1 && strings.Contains(lines[0], what) }
	if !said(told.Status, "Render service: shot 010, ") || !said(told.Said, done) || !said(told.Notice, done) {
		t.Errorf("the status bar says %q and then %q, and Blender reports %q, want %q", told.Status, told.Said, told.Notice, done)
	}
	for _, picture := range told.Pictures {
		if values := picture[1].(float64); values < 100 {
			t.Errorf("the picture %s shows next to nothing: its bytes have %v values", picture[0], values)
		}
	}
	svc.SettledOnce(c, 2)
}
