package autoscale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// engineTimeout bounds one call of an engine's program.
const engineTimeout = time.Minute

// run calls a program and returns what it printed. An error has what the program said.
func run(ctx context.Context, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	var out, said bytes.Buffer
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdout, command.Stderr, command.WaitDelay = &out, &said, time.Second
	if err := command.Run(); err != nil {
		if why := firstLine(said.String()); why != "" {
			return "", fmt.Errorf("%s: %w: %s", words[0], err, why)
		}
		return "", fmt.Errorf("%s: %w", words[0], err)
	}
	return out.String(), nil
}

// firstLine is the first line of what a program said, for an error.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line[:min(len(line), 300)]
}

// Slurm submits a batch script for each worker. Slurm places it, requeues it after a
// preemption, and gives it its GPU.
type Slurm struct {
	// Script is what sbatch gets; it runs svc worker run with --exit-idle.
	Script string
	// Name is the jobs' name: what has it counts as a worker of this scaler.
	Name string
}

// List returns the jobs of this name and user that wait or run. A job that was requeued
// after a preemption is pending.
func (e Slurm) List(ctx context.Context) ([]Job, error) {
	out, err := run(ctx, "squeue", "--me", "--noheader", "--name="+e.Name, "--states=PENDING,CONFIGURING,RUNNING,SUSPENDED,STOPPED", "--format=%i %T")
	if err != nil {
		return nil, err
	}
	return parseJobs(out, "PENDING")
}

// Start submits the script once.
func (e Slurm) Start(ctx context.Context) error {
	_, err := run(ctx, "sbatch", "--parsable", "--job-name="+e.Name, e.Script)
	return err
}

// Cancel takes back what still waits: Slurm may have started a job since the list.
func (e Slurm) Cancel(ctx context.Context, ids []string) error {
	_, err := run(ctx, append([]string{"scancel", "--state=PENDING"}, ids...)...)
	return err
}

// parseJobs reads lines of an id and a state.
func parseJobs(text, pending string) (jobs []Job, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) != 2:
			return nil, fmt.Errorf("the engine's list has the line %q; it must be an id and a state", firstLine(line))
		default:
			jobs = append(jobs, Job{words[0], strings.EqualFold(words[1], pending)})
		}
	}
	return jobs, nil
}

// Kubernetes creates a Job for each worker, by kubectl. Kubernetes places its pod and
// restarts it.
type Kubernetes struct {
	// Manifest is a file with a Job that has generateName and the label of Name.
	Manifest string
	// Name is the value of the label svc-autoscale: what has it counts as a worker of this
	// scaler.
	Name string
}

// label selects the jobs of a scaler.
const label = "svc-autoscale"

// List returns the Jobs that have not ended. One whose pod is not ready is pending.
func (e Kubernetes) List(ctx context.Context) ([]Job, error) {
	out, err := run(ctx, "kubectl", "get", "jobs", "--selector="+label+"="+e.Name, "--output=json")
	if err != nil {
		return nil, err
	}
	return parseKubernetesJobs([]byte(out))
}

func parseKubernetesJobs(text []byte) (jobs []Job, err error) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Status struct {
				Ready      int `json:"ready"`
				Conditions []struct {
					Type   string `json:"type"`
					Status string `json:"status"`
				} `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read the list of kubectl: %w", err)
	}
	for _, item := range list.Items {
		ended := false
		for _, c := range item.Status.Conditions {
			ended = ended || (c.Status == "True" && (c.Type == "Complete" || c.Type == "Failed" || c.Type == "FailureTarget"))
		}
		if !ended {
			jobs = append(jobs, Job{item.Metadata.Name, item.Status.Ready == 0})
		}
	}
	return jobs, nil
}

// Start creates one Job.
func (e Kubernetes) Start(ctx context.Context) error {
	_, err := run(ctx, "kubectl", "create", "--filename="+e.Manifest, "--output=name")
	return err
}

// Cancel deletes Jobs. A pod that has become ready since the list gets TERM: its worker
// gives its frame back.
func (e Kubernetes) Cancel(ctx context.Context, ids []string) error {
	_, err := run(ctx, append([]string{"kubectl", "delete", "job", "--wait=false", "--ignore-not-found"}, ids...)...)
	return err
}

// Command speaks to any other engine by three programs, each with its words.
type Command struct {
	ListWords   []string // prints a line for each job: its id, and pending or running
	StartWords  []string // asks for one more
	CancelWords []string // gets the ids of pending jobs as further words
}

// List calls the first program.
func (e Command) List(ctx context.Context) ([]Job, error) {
	out, err := run(ctx, e.ListWords...)
	if err != nil {
		return nil, err
	}
	return parseJobs(out, "pending")
}

// Start calls the second program.
func (e Command) Start(ctx context.Context) error {
	_, err := run(ctx, e.StartWords...)
	return err
}

// Cancel calls the third program.
func (e Command) Cancel(ctx context.Context, ids []string) error {
	_, err := run(ctx, append(append([]string{}, e.CancelWords...), ids...)...)
	return err
}
