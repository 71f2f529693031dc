// Command commandclient is the command svc as a program under test (docs/conformance.md): each verb is
// one run of the program that SVC_PROGRAM names.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

type arguments struct {
	File   string `json:"file"`
	Folder string `json:"folder"`
	Start  int    `json:"frame_start"`
	End    int    `json:"frame_end"`
	Frame  int    `json:"frame"`
	Limit  int    `json:"limit"`
	JobID  string `json:"job_id"`
	Before int64  `json:"before"`
}

type told map[string]any

func main() {
	if err := listen(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func listen(ctx context.Context) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked struct {
			Verb string    `json:"verb"`
			Args arguments `json:"args"`
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		line := map[string]any{"error": told{"kind": "unsupported"}}
		if verb, ok := verbs[asked.Verb]; ok {
			answer, err := verb(ctx, asked.Args)
			line = map[string]any{"ok": answer}
			if refused, ok := errors.AsType[refusal](err); ok {
				line = map[string]any{"error": refused.words}
			} else if err != nil {
				return err
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// refusal is what svc ended with, in the words of the suite.
type refusal struct{ words told }

func (r refusal) Error() string { return fmt.Sprint(r.words) }

// run runs svc and reads the JSON object that it prints.
func run(ctx context.Context, answer any, arguments ...string) error {
	command := exec.CommandContext(ctx, os.Getenv("SVC_PROGRAM"), append(arguments, "--json")...)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	text, err := command.Output()
	if err == nil {
		return json.Unmarshal(text, answer)
	}
	var failed struct {
		Error struct {
			Code      string `json:"code"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if unread := json.Unmarshal(text, &failed); unread != nil {
		return fmt.Errorf("svc %v: %w\n%s%s", arguments, err, text, &complaint)
	}
	switch command.ProcessState.ExitCode() {
	case 3, 5:
		return refusal{told{"kind": "verification"}}
	case 4:
		return refusal{told{"kind": "changed"}}
	}
	return refusal{told{"kind": "api", "code": failed.Error.Code, "request_id": failed.Error.RequestID != "", "said": complaint.String()}}
}

var lastNumber = regexp.MustCompile(`(\d+)\D*$`)

var verbs = map[string]func(context.Context, arguments) (told, error){
	"render": func(ctx context.Context, a arguments) (told, error) {
		var result struct {
			JobID   string   `json:"job_id"`
			Charged int64    `json:"charged_cents"`
			Frames  []string `json:"frames"`
			Checks  []struct{ Name, Status string }
		}
		err := run(ctx, &result, "render", a.File, "--no-files", "--yes", "--frames", fmt.Sprintf("%d-%d", a.Start, a.End), "--out", a.Folder)
		if err != nil {
			return nil, err
		}
		var job struct{ Status string }
		if err := run(ctx, &job, "job", result.JobID); err != nil {
			return nil, err
		}
		frames := []int{}
		for _, path := range result.Frames {
			number, err := strconv.Atoi(lastNumber.FindStringSubmatch(path)[1])
			if err != nil {
				return nil, err
			}
			frames = append(frames, number)
		}
		found := told{"job_id": result.JobID, "status": job.Status, "charged_cents": result.Charged, "frame_numbers": frames}
		for _, check := range result.Checks {
			found[check.Name] = check.Status
		}
		return found, nil
	},
	"look": func(ctx context.Context, a arguments) (told, error) {
		path := filepath.Join(a.Folder, "look.jpg")
		var look struct{ Frame int }
		if err := run(ctx, &look, "look", a.File, "--no-files", "--frame", strconv.Itoa(a.Frame), "--out", path); err != nil {
			return nil, err
		}
		picture, err := os.ReadFile(path)
		return told{"status": "ready", "frame": look.Frame, "jpeg": bytes.HasPrefix(picture, []byte("\xff\xd8"))}, err
	},
	"job": func(ctx context.Context, a arguments) (told, error) {
		var job told
		err := run(ctx, &job, "job", a.JobID)
		return job, err
	},
	"jobs": func(ctx context.Context, a arguments) (told, error) {
		var list struct {
			Jobs []struct {
				JobID string `json:"job_id"`
			}
		}
		if err := run(ctx, &list, "jobs", "--limit", strconv.Itoa(a.Limit)); err != nil || len(list.Jobs) == 0 {
			return told{}, err
		}
		return told{"first": list.Jobs[0].JobID}, nil
	},
	"wallet": func(ctx context.Context, a arguments) (told, error) {
		var wallet struct {
			Available int64 `json:"available_cents"`
		}
		err := run(ctx, &wallet, "wallet")
		return told{"available_cents": wallet.Available, "spent_since": a.Before - wallet.Available}, err
	},
}
