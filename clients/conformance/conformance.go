// Package conformance tests clients of svc with stories: calls over a connection on which
// things go wrong, with the required outcome. Stories are data (stories.json). A client under
// test is a program in any language that reads one verb a line and answers one line;
// docs/conformance.md describes it.
//
// What always holds: a story passes only when every step came to what it says, each fault met
// a call, and the client did nothing that no client may do. Its callers choose the service
// behind the proxy, which must render. Start reading at Run, then wire.go.
package conformance

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

//go:embed stories.json
var stories []byte

// Story is what a client is asked to do, what goes wrong meanwhile, and what must come of it.
type Story struct {
	Name   string `json:"name"`
	Wire   []Rule `json:"wire"`
	Spends int64  `json:"spends"` // cents that the key's workspace has less afterwards
	Steps  []Step `json:"steps"`
}

// Step is one verb. Words of Args that begin with $ stand for what an earlier step was
// answered ("$job"), for a member of it ("$job.job_id"), or for "$scene", "$folder" (empty)
// and "$project" (a folder with film/scene.blend and notes.txt).
type Step struct {
	Verb  string         `json:"verb"`
	Args  map[string]any `json:"args"`
	Save  string         `json:"save"`
	Want  map[string]any `json:"want"`  // members that the answer has, among others
	Error map[string]any `json:"error"` // the same of an error; nil = the step succeeds
}

// Stories returns all stories.
func Stories() (all []Story, err error) {
	return all, json.Unmarshal(stories, &all)
}

// Client is a program under test.
type Client struct {
	Name    string
	Folder  string // where it runs; "" = here
	Command []string
	Env     []string // in addition to this process's own
}

// ErrUnsupported is what a client answers to a verb that it has not: a story with it is none
// of its own.
var ErrUnsupported = errors.New("the client does not have this verb")

// Target is the service behind the proxy. It must have a worker, and the key's money
// must not be spent by others meanwhile.
type Target struct {
	URL, Key string
	Scene    []byte // a .blend with the frames 1 to 4 at least
}

// Run plays a story with a client and returns an error that names the first thing that
// was not as required; ErrUnsupported when the client says that it cannot do it.
func Run(ctx context.Context, client Client, story Story, target Target) error {
	wire, err := NewWire(target.URL, story.Wire...)
	if err != nil {
		return err
	}
	defer wire.Close()
	folder, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	saved, err := given(folder, target.Scene)
	if err != nil {
		return err
	}
	before, err := target.available(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := start(ctx, client, wire.URL, target.Key)
	if err != nil {
		return err
	}
	for i, step := range story.Steps {
		if err := p.take(step, saved); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, step.Verb, err)
		}
	}
	if err := p.end(); err != nil {
		return err
	}
	if complaints := wire.Complaints(); len(complaints) > 0 {
		return fmt.Errorf("on the wire: %s", strings.Join(complaints, "; "))
	}
	after, err := target.available(ctx)
	if err == nil && before-after != story.Spends {
		err = fmt.Errorf("it spent %d cents, want %d", before-after, story.Spends)
	}
	return err
}

// given puts the files that stories name into a folder.
func given(folder string, scene []byte) (map[string]any, error) {
	empty, project := filepath.Join(folder, "empty"), filepath.Join(folder, "project")
	for _, made := range []string{empty, filepath.Join(project, "film")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	saved := map[string]any{"scene": filepath.Join(folder, "scene.blend"), "folder": empty, "project": project}
	for name, content := range map[string][]byte{
		"scene.blend": scene, "project/film/scene.blend": scene, "project/notes.txt": []byte("not in the scene, but of the project\n"),
	} {
		if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(name)), content, 0o600); err != nil {
			return nil, err
		}
	}
	return saved, nil
}

// available is what the key's workspace can spend, in cents, as the service reports it
// without the proxy and the client.
func (t Target) available(ctx context.Context) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL+"/v1/wallet", http.NoBody)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+t.Key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, fmt.Errorf("ask the service for the wallet: %w", err)
	}
	defer answer.Body.Close()
	var wallet struct {
		Available *int64 `json:"available_cents"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&wallet); err != nil || wallet.Available == nil {
		return 0, fmt.Errorf("ask the service for the wallet: it answers %s", answer.Status)
	}
	return *wallet.Available, nil
}

// program is a running client.
type program struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  *strings.Builder
}

func start(ctx context.Context, client Client, url, key string) (*program, error) {
	command := exec.CommandContext(ctx, client.Command[0], client.Command[1:]...)
	command.Dir = client.Folder
	command.Env = append(append(os.Environ(), client.Env...), "SVC_SERVER="+url, "SVC_KEY="+key)
	p := &program{command: command, stderr: &strings.Builder{}}
	command.Stderr = p.stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p, command.Start()
}

// end closes the program's input, after which it must end well.
func (p *program) end() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	if err := p.command.Wait(); err != nil {
		return fmt.Errorf("the client ended badly: %w\n%s", err, p.stderr)
	}
	return nil
}

// take makes one step and compares its answer with what the step requires.
func (p *program) take(step Step, saved map[string]any) error {
	args, err := filled(step.Args, saved)
	if err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{"verb": step.Verb, "args": args})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the client does not listen: %w\n%s", err, p.stderr)
	}
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		_ = p.command.Wait() // what it complained of is then whole
		return fmt.Errorf("the client does not answer: %w\n%s", err, p.stderr)
	}
	var answer struct {
		OK    map[string]any `json:"ok"`
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("the client's answer %s: %w", text, err)
	}
	if answer.Error["kind"] == "unsupported" {
		return ErrUnsupported
	}
	if (step.Error == nil) != (answer.Error == nil) {
		return fmt.Errorf("it was answered %s, want the error %v", text, step.Error)
	}
	got, want := answer.OK, step.Want
	if step.Error != nil {
		got, want = answer.Error, step.Error
	}
	for name, value := range want {
		value, err := fill(value, saved)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(got[name], value) {
			return fmt.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if step.Save != "" {
		saved[step.Save] = map[string]any(answer.OK)
	}
	return nil
}

func filled(args, saved map[string]any) (map[string]any, error) {
	found := map[string]any{}
	for name, value := range args {
		value, err := fill(value, saved)
		if err != nil {
			return nil, err
		}
		found[name] = value
	}
	return found, nil
}

// fill puts what was saved in the place of a word that begins with $.
func fill(value any, saved map[string]any) (any, error) {
	word, ok := value.(string)
	if !ok || !strings.HasPrefix(word, "$") {
		return value, nil
	}
	path, rest, inFolder := strings.Cut(word[1:], "/")
	var found any = saved
	for name := range strings.SplitSeq(path, ".") {
		members, ok := found.(map[string]any)
		if !ok || members[name] == nil {
			return nil, fmt.Errorf("no step has saved %s", word)
		}
		found = members[name]
	}
	if inFolder {
		return filepath.Join(fmt.Sprint(found), rest), nil
	}
	return found, nil
}

// Table prints which clients pass which stories, as Markdown: outcome returns whether one
// does.
func Table(clients []string, all []Story, outcome func(client, story string) bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| story | %s |\n|---|%s\n", strings.Join(clients, " | "), strings.Repeat("---|", len(clients)))
	for _, story := range all {
		cells := slices.Collect(func(yield func(string) bool) {
			for _, client := range clients {
				if !yield(map[bool]string{true: "yes", false: "no"}[outcome(client, story.Name)]) {
					return
				}
			}
		})
		fmt.Fprintf(&text, "| %s | %s |\n", story.Name, strings.Join(cells, " | "))
	}
	return text.String()
}
