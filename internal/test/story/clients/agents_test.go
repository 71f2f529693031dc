package clients_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
)

// scriptFolder is testdata/agents and the demo scene, next to the npm packages.
func scriptFolder(t *testing.T) string {
	t.Helper()
	folder := besidePackages(t, os.DirFS("testdata/agents"))
	if err := os.WriteFile(filepath.Join(folder, demo.Filename), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// What agents speak is the same on both databases: one will do.
func TestTheNpmClientOfTheProtocolRendersAJob(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.Caller(story.Credit)
	folder := scriptFolder(t)
	var result struct {
		Tools      []string `json:"tools"`
		Sent       int      `json:"sent"`
		JobID      string   `json:"job_id"`
		Status     string   `json:"status"`
		TooDear    string   `json:"too_dear"`
		Downloaded string   `json:"downloaded"`
		Promised   []string `json:"promised"`
		Charged    int      `json:"charged_cents"`
		Signed     int      `json:"signed"`
		Prompt     int      `json:"prompt"`
		Instead    string   `json:"instead"`
		Progress   []struct {
			Progress, Total float64
			Message         string
		} `json:"progress"`
	}
	text := node(t, folder, []string{"SVC_URL=" + svc.URL, "SVC_KEY=" + c.Agent.Secret, "SVC_SCENE=" + filepath.Join(folder, demo.Filename)}, "job.mjs")
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(result.Tools) != 10 || result.Sent != http.StatusOK || result.Status != "completed" || result.TooDear != "price_above_max" ||
		result.Charged != 2 || result.Signed != 1 || result.Prompt != 1 || result.Instead != "svc_inspect" {
		t.Errorf("the program says %+v", result)
	}
	if p := result.Progress; len(p) == 0 || p[0].Total != 100 || !strings.Contains(p[0].Message, "of 2 frames done") {
		t.Errorf("while it waits it is told %+v", p)
	}
	for _, promised := range result.Promised {
		if promised != result.Downloaded || len(promised) != 64 {
			t.Errorf("it downloaded %s and was promised %s", result.Downloaded, promised)
		}
	}
	svc.SettledOnce(c, 2)
}

// TestTheInspectorRegistersIsLetInAndRenders runs the official inspector's command line, a
// process for each call; it also judges the schemas. From nothing but the address of the
// tools it registers automatically, has a person let it in, and keeps what it got.
func TestTheInspectorRegistersIsLetInAndRenders(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), Registration: true})
	svc.Worker(&story.Painter{})
	c := svc.Caller(story.Credit)
	p := svc.Console(c)
	folder := scriptFolder(t)
	back := "http://" + story.FreeAddress(t) + "/oauth/callback"
	asked := 0
	inspector := func(arguments ...string) []byte {
		t.Helper()
		all := append([]string{"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", svc.URL + "/mcp", "--transport", "http", "--callback-url", back}, arguments...)
		command := exec.CommandContext(story.Patient(t), pinnedNode(t), all...)
		command.Dir, command.Env = folder, append(os.Environ(), "HOME="+folder, "BROWSER=true", "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=true")
		said, err := command.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		var result, rest bytes.Buffer
		command.Stdout = &result
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if _, address, is := strings.Cut(lines.Text(), "navigate to: "); is {
				asked++
				allows(p, strings.TrimSpace(address), "it registered itself")
			}
			rest.WriteString(lines.Text() + "\n")
		}
		if err := command.Wait(); err != nil {
			t.Fatalf("%v: %v\n%s%s", arguments, err, &result, &rest)
		}
		return result.Bytes()
	}
	call := func(tool string, with map[string]any) (answer map[string]any) {
		t.Helper()
		arguments := []string{"--method", "tools/call", "--tool-name", tool}
		for name, value := range with {
			if number, ok := value.(float64); ok {
				value = int(number)
			}
			arguments = append(arguments, "--tool-arg", fmt.Sprintf("%s=%v", name, value))
		}
		text := inspector(arguments...)
		var result struct {
			StructuredContent map[string]any `json:"structuredContent"`
		}
		if err := json.Unmarshal(text, &result); err != nil || fmt.Sprint(result.StructuredContent["ok"]) != "true" {
			t.Fatalf("%s: %v: %s", tool, err, text)
		}
		return result.StructuredContent
	}
	follow := func(answer map[string]any) map[string]any {
		t.Helper()
		with, _ := answer["next_arguments"].(map[string]any)
		return call(fmt.Sprint(answer["next_tool"]), with)
	}
	inspector("--method", "tools/list", "--strict")

	awaited := call("svc_inspect", nil)
	link, _ := awaited["upload"].(map[string]any)
	put(t, fmt.Sprint(link["url"]), demo.Scene())
	inspected := follow(awaited)
	quoted := call("svc_quote", map[string]any{"upload_id": inspected["upload_id"], "frame_start": 1, "frame_end": 2})
	with, _ := quoted["next_arguments"].(map[string]any)
	with["legal_acceptance"] = "SVC_LEGAL_V1"
	job := call("svc_start", with)
	for job["next_tool"] == "svc_status" {
		job = follow(job)
	}
	download := follow(job)
	if receipt := follow(download); receipt["artifact_sha256"] != download["sha256"] || receipt["charged_cents"] != 2.0 {
		t.Errorf("the receipt is %v, the download %v", receipt, download)
	}
	if asked != 1 {
		t.Errorf("a person was asked %d times", asked)
	}
	svc.SettledOnce(c, 2)
}

// put uploads a file by a signed link.
func put(t *testing.T, address string, file []byte) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(story.Patient(t), http.MethodPut, address, strings.NewReader(string(file)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// follow takes next steps while they lead to that tool.
func follow(s story.Session, answer map[string]any, tool string) map[string]any {
	s.T.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for answer["next_tool"] == tool {
		select {
		case <-tick.C:
		case <-s.T.Context().Done():
			s.T.Fatalf("it never continues from %s", tool)
		}
		var refused bool
		if answer, refused = s.Call(tool, answer["next_arguments"]); refused {
			s.T.Fatalf("%s: %v", tool, answer)
		}
	}
	return answer
}

// codeOf is what a refusal is called.
func codeOf(answer map[string]any) string {
	e, _ := answer["error"].(map[string]any)
	return fmt.Sprint(e["code"])
}

// TestALocalAgentSendsAndSavesFilesByTheirPaths speaks to `svc mcp` as a desktop
// agent does, over standard input and output.
func TestALocalAgentSendsAndSavesFilesByTheirPaths(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Worker(&story.Painter{})
	folder, outside := t.TempDir(), t.TempDir()
	scene := filepath.Join(outside, demo.Filename)
	for _, err := range []error{
		os.WriteFile(scene, demo.Scene(), 0o600), os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret"), 0o600),
		os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(outside, "link.blend")),
		os.Symlink(outside, filepath.Join(folder, "way-out")), os.WriteFile(filepath.Join(folder, "taken.zip"), []byte("mine"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(apptest.Binary(t), "mcp", "--server", svc.URL, "--save-to", folder)
	command.Env = append(os.Environ(), "SVC_KEY="+c.Agent.Secret)
	command.SysProcAttr, command.Stderr = story.DiesWithTheTest(), t.Output()
	s := story.Connect(t, &mcp.CommandTransport{Command: command})

	for name, path := range map[string]string{
		"relative": demo.Filename, "no scene": filepath.Join(outside, "secret.txt"), "a link to no scene": filepath.Join(outside, "link.blend"),
		"nothing": filepath.Join(outside, "none.blend"), "a folder": outside,
	} {
		if answer, refused := s.Call("svc_inspect", map[string]any{"file_path": path}); !refused || codeOf(answer) != "invalid_request" {
			t.Errorf("%s: %v", name, answer)
		}
	}
	answer, refused := s.Call("svc_inspect", map[string]any{"file_path": scene})
	if refused {
		t.Fatalf("svc_inspect: %v", answer)
	}
	answer = follow(s, answer, "svc_inspect")
	looked, _ := s.Call("svc_preview", map[string]any{"upload_id": answer["upload_id"]})
	looked = follow(s, looked, "svc_preview")
	_, picture, _ := s.CallSeeing("svc_preview", map[string]any{"preview_id": looked["preview_id"]})
	if size, err := jpeg.DecodeConfig(bytes.NewReader(picture)); err != nil || size.Width != story.PictureWidth {
		t.Errorf("the preview is %v, its picture %+v, %v", looked, size, err)
	}
	quoted, _ := s.Call("svc_quote", map[string]any{"upload_id": answer["upload_id"], "frame_start": 1, "frame_end": 2})
	with, _ := quoted["next_arguments"].(map[string]any)
	with["legal_acceptance"] = "SVC_LEGAL_V1"
	job, _ := s.Call("svc_start", with)
	job = follow(s, job, "svc_status")
	svc.Stop()
	if answer, refused := s.Call("svc_status", map[string]any{"job_id": job["job_id"]}); !refused || codeOf(answer) != "unavailable" {
		t.Errorf("without a service: %v", answer)
	}
	svc.Restart()
	for _, name := range []string{"../out.zip", "way-out/out.zip", filepath.Join(outside, "out.zip"), "taken.zip"} {
		if answer, refused := s.Call("svc_download", map[string]any{"job_id": job["job_id"], "save_as": name}); !refused {
			t.Errorf("saved as %s: %v", name, answer)
		}
	}
	saved, refused := s.Call("svc_download", map[string]any{"job_id": job["job_id"], "save_as": "render.zip"})
	if refused {
		t.Fatalf("svc_download: %v", saved)
	}
	saved = follow(s, saved, "svc_download")
	zip, err := os.ReadFile(filepath.Join(folder, "render.zip"))
	if err != nil || saved["saved_to"] != filepath.Join(folder, "render.zip") {
		t.Fatalf("saved to %v: %v", saved["saved_to"], err)
	}
	receipt, _ := s.Call("svc_receipt", map[string]any{"job_id": job["job_id"]})
	verifyOffline(s, receipt, zip)
	if answer, refused := s.Call("svc_start", map[string]any{"upload_id": answer["upload_id"]}); !refused || codeOf(answer) != "legal_acceptance_required" {
		t.Errorf("a start without terms: %v", answer)
	}
	for _, f := range []string{"out.zip", "out.zip.part"} {
		if _, err := os.Stat(filepath.Join(outside, f)); err == nil {
			t.Errorf("%s was written outside", f)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || !slices.Equal(namesOf(left), []string{"render.zip", "taken.zip", "way-out"}) {
		t.Errorf("in the folder are %v, %v", namesOf(left), err)
	}
	svc.SettledOnce(c, 2)
}

func namesOf(entries []os.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// verifyOffline saves what svc_receipt points to, and has `svc verify` check it
// and the ZIP, without the service.
func verifyOffline(s story.Session, answer map[string]any, zip []byte) {
	s.T.Helper()
	folder := s.T.TempDir()
	documents, _ := answer["documents"].(map[string]any)
	for name, uri := range documents {
		r, err := s.ReadResource(story.Patient(s.T), &mcp.ReadResourceParams{URI: fmt.Sprint(uri)})
		if err != nil {
			s.T.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(r.Contents[0].Text), 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
	words := strings.Fields(fmt.Sprint(answer["verify_command"])) // svc verify receipt.json --artifact JOB-….zip
	if err := os.WriteFile(filepath.Join(folder, words[len(words)-1]), zip, 0o600); err != nil {
		s.T.Fatal(err)
	}
	command := exec.CommandContext(story.Patient(s.T), apptest.Binary(s.T), words[1:]...)
	command.Dir = folder
	if result, err := command.CombinedOutput(); err != nil || !strings.Contains(string(result), "log") {
		s.T.Errorf("%v: %v\n%s", words, err, result)
	}
}
