//go:build deploy

package processes_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/autoscale"
	"svc.example/internal/work/wallet"
)

// kubernetesFolder is deploy/kubernetes.
func kubernetesFolder(t *testing.T, below ...string) string {
	t.Helper()
	if os.Getenv("KUBECONFIG") == "" {
		t.Fatal("there is no Kubernetes here: run make deploy-test")
	}
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "..", "..", "deploy", "kubernetes"}, below...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tryKubectl runs kubectl as an administrator, with text on its input.
func tryKubectl(input string, words ...string) (string, error) {
	command := exec.Command("kubectl", words...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func kubectl(t *testing.T, input string, words ...string) string {
	t.Helper()
	out, err := tryKubectl(input, words...)
	if err != nil {
		t.Fatalf("kubectl %v: %v: %s", words, err, strings.ReplaceAll(out, "\n", "; ")) // make deploy-test prints this line
	}
	return out
}

// objects are what a kustomization makes, as JSON by kind and name.
func objects(t *testing.T, folder string) map[string]string {
	t.Helper()
	text := kubectl(t, kubectl(t, "", "kustomize", folder), "create", "--dry-run=client", "--output=json", "--filename=-")
	found := map[string]string{}
	// kubectl prints one object after the other.
	for decoder := json.NewDecoder(strings.NewReader(text)); decoder.More(); {
		var raw json.RawMessage
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := decoder.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		found[head.Kind+"/"+head.Metadata.Name] = string(raw)
	}
	return found
}

// TestKubernetesTakesTheManifests has a real API server judge what every kustomization makes,
// and what the autoscaler of each would create.
func TestKubernetesTakesTheManifests(t *testing.T) {
	judge := []string{"--dry-run=server", "--validate=strict", "--filename=-"}
	for _, folder := range []string{"base", "overlays/gpu", "overlays/postgres", "overlays/s3"} {
		all := kubectl(t, "", "kustomize", kubernetesFolder(t, folder))
		if folder == "base" { // what is checked must have its namespace
			for _, of := range []string{"service", "workers"} {
				kubectl(t, "", "apply", "--server-side", "--filename="+kubernetesFolder(t, "base", of, "namespace.yaml"))
			}
		}
		kubectl(t, all, append([]string{"apply", "--server-side"}, judge...)...)
		if out, err := tryKubectl(strings.ReplaceAll(all, "replicas: 1", "replica: 1"), append([]string{"apply", "--server-side"}, judge...)...); err == nil {
			t.Errorf("%s: a mistyped member is taken: %s", folder, out)
		}
		workers := 0
		for name, text := range objects(t, kubernetesFolder(t, folder)) {
			if !strings.HasPrefix(name, "ConfigMap/svc-worker-") {
				continue
			}
			workers++
			var config struct{ Data map[string]string }
			if err := json.Unmarshal([]byte(text), &config); err != nil {
				t.Fatal(err)
			}
			job := config.Data["worker-job.yaml"]
			create := append([]string{"create", "--namespace=svc-workers"}, judge...)
			kubectl(t, job, create...)
			if gpu := strings.Contains(job, "nvidia.com/gpu: 1"); gpu != (folder == "overlays/gpu") {
				t.Errorf("%s: workers have a GPU: %v", folder, gpu)
			}
			if out, err := tryKubectl(strings.Replace(job, "hostUsers: false", "hostUsers: true", 1), create...); err == nil {
				t.Errorf("%s: an unmasked /proc is taken without a user namespace: %s", folder, out)
			}
		}
		if workers != 1 {
			t.Errorf("%s has %d manifests of workers", folder, workers)
		}
	}
}

// TestKubernetesMonitoringIsBuiltByKustomize: the component has each of its objects once. What they
// mean is judged by the Prometheus operator only.
func TestKubernetesMonitoringIsBuiltByKustomize(t *testing.T) {
	out := kubectl(t, "", "kustomize", kubernetesFolder(t, "components", "monitoring"))
	for _, kind := range []string{"ServiceMonitor", "PodMonitor", "PrometheusRule"} {
		if n := strings.Count(out, "kind: "+kind); n != 1 {
			t.Errorf("%d objects of kind %s", n, kind)
		}
	}
}

// TestPodsOfWorkersGetNothingOfTheMachine: the namespace of the workers allows an unmasked
// /proc, and nothing else of what its level allows.
func TestPodsOfWorkersGetNothingOfTheMachine(t *testing.T) {
	kubectl(t, kubectl(t, "", "kustomize", kubernetesFolder(t, "base")), "apply", "--server-side", "--filename=-")
	const plain = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"securityContext":{"runAsNonRoot":true},
		"containers":[{"name":"w","image":"w","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`
	try := func(spec string) (string, error) {
		return tryKubectl(spec, "create", "--namespace=svc-workers", "--dry-run=server", "--filename=-")
	}
	for from, to := range map[string]string{
		`"spec":{`:                             `"spec":{"hostNetwork":true,`,
		`"containers":`:                        `"hostPID":true,"containers":`,
		`"containers"`:                         `"volumes":[{"name":"m","hostPath":{"path":"/"}}],"containers"`,
		`"runAsNonRoot":true`:                  `"runAsNonRoot":false`,
		`"allowPrivilegeEscalation":false`:     `"privileged":true`,
		`"drop":["ALL"]`:                       `"drop":["ALL"],"add":["SYS_ADMIN"]`,
		`"image":"w"`:                          `"image":"w","ports":[{"containerPort":80,"hostPort":80}]`,
		`"name":"w","image":"w",`:              `"name":"w","image":"w","securityContext":{"runAsUser":0}},{"name":"v","image":"w",`,
		`"allowPrivilegeEscalation":false,"ca`: `"ca`,
	} {
		spec := strings.Replace(plain, from, to, 1)
		var said string
		await.Until(t, "the API server refuses "+to, func() bool {
			out, err := try(spec)
			said = out
			return err != nil
		})
		if !strings.Contains(said, "of svc-workers") {
			t.Errorf("%s is refused, and not by the guard: %s", to, said)
		}
	}
	unmasked := strings.NewReplacer(`"spec":{`, `"spec":{"hostUsers":false,`, `"allowPriv`, `"procMount":"Unmasked","allowPriv`).Replace(plain)
	for _, spec := range []string{plain, unmasked} {
		if out, err := try(spec); err != nil {
			t.Errorf("a worker is refused: %s", out)
		}
	}
}

// pod is what a kubelet reads of a pod.
type pod struct {
	Metadata struct{ Name string }
	Spec     struct {
		NodeName   string
		Containers []struct {
			Args []string
			Env  []struct{ Name, Value string }
		}
	}
}

// bound are the pods of workers that the scheduler has given a machine.
func bound(t *testing.T) (pods []pod) {
	t.Helper()
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(kubectl(t, "", "get", "pods", "--namespace=svc-workers", "--selector=app=svc-worker", "--output=json")), &list); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p pod) bool { return p.Spec.NodeName == "" })
}

// machine is a Node with room for one worker. Nothing runs on it: the test does what its
// kubelet would.
const machine = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"one","labels":{"kubernetes.io/hostname":"one"}}}`

const machineStatus = `{"status":{"capacity":{"cpu":"5","memory":"20Gi","ephemeral-storage":"100Gi","pods":"10"},
	"allocatable":{"cpu":"5","memory":"20Gi","ephemeral-storage":"100Gi","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}`

// tell is what a kubelet reports to the API server about a pod.
func tell(t *testing.T, name, phase, ready string) {
	t.Helper()
	kubectl(t, "", "patch", "pod", name, "--namespace=svc-workers", "--subresource=status", "--patch",
		`{"status":{"phase":"`+phase+`","conditions":[{"type":"Ready","status":"`+ready+`"}]}}`)
}

// asAutoscaler makes a configuration of kubectl with the rights that the manifests give
// svc autoscale, and no others.
func asAutoscaler(t *testing.T) string {
	t.Helper()
	kubectl(t, kubectl(t, "", "kustomize", kubernetesFolder(t, "base")), "apply", "--server-side", "--filename=-")
	for _, of := range []string{"svc", "svc-workers"} { // no machine would run them
		kubectl(t, "", "delete", "deployment", "--all", "--namespace="+of)
	}
	token := kubectl(t, "", "create", "token", "svc-autoscale", "--namespace=svc-workers", "--duration=1h")
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubectl(t, "", "config", "view", "--raw")), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, "", "--kubeconfig="+path, "config", "set-credentials", "admin", "--token="+token)
	kubectl(t, "", "--kubeconfig="+path, "config", "set-context", "--current", "--namespace=svc-workers")
	for _, forbidden := range [][]string{{"get", "secrets"}, {"get", "secrets", "--namespace=svc"}, {"get", "jobs", "--namespace=svc"}} {
		if out, err := tryKubectl("", append([]string{"--kubeconfig=" + path}, forbidden...)...); err == nil {
			t.Errorf("the autoscaler may %v: %s", forbidden, out)
		}
	}
	return path
}

// TestKubernetesRunsTheWorkersThatAJobIsWorth has svc autoscale ask a real API server for
// workers, with the rights of the manifests; real controllers make their pods, and a real
// scheduler places the one that there is room for. The other is asked for and not started,
// and is taken back when nothing is left for it. make deploy-test runs this.
func TestKubernetesRunsTheWorkersThatAJobIsWorth(t *testing.T) {
	manifest := kubernetesFolder(t, "base", "workers", "worker-job.yaml")
	binary, blender := apptest.Binary(t), story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	key := svc.NodeKey().Secret
	config := asAutoscaler(t)
	scaler := func(words ...string) *exec.Cmd {
		command := exec.Command(binary, append([]string{"autoscale", "--engine=kubernetes", "--job=" + manifest, "--max=2", "--frames-per-worker=2"}, words...)...)
		command.Env = append(os.Environ(), "KUBECONFIG="+config, "SVC_SERVER="+svc.URL, "SVC_NODE_KEY="+key, "HOME="+t.TempDir())
		command.Dir, command.Stderr, command.WaitDelay = t.TempDir(), t.Output(), time.Second
		return command
	}
	once := func(words ...string) (step autoscale.Step) {
		t.Helper()
		out, err := scaler(append([]string{"--once", "--json"}, words...)...).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var reply struct{ Step autoscale.Step }
		if err := json.Unmarshal(out, &reply); err != nil {
			t.Fatal(err)
		}
		return reply.Step
	}
	jobs := func() []string {
		t.Helper()
		return strings.Fields(kubectl(t, "", "get", "jobs", "--namespace=svc-workers", "--selector=svc-autoscale=svc-worker", "--output=name"))
	}

	job, err := c.Take(c.QuoteFrames(6))
	if err != nil {
		t.Fatal(err)
	}
	if got := once("--dry-run"); got != (autoscale.Step{Wanted: 2, Started: 2}) || len(jobs()) != 0 {
		t.Errorf("a dry run: %+v, and %v are there", got, jobs())
	}
	if got := once(); got != (autoscale.Step{Wanted: 2, Started: 2}) {
		t.Errorf("at first: %+v", got)
	}
	kubectl(t, machine, "create", "--filename=-")
	kubectl(t, "", "patch", "node", "one", "--subresource=status", "--patch", machineStatus)
	await.Until(t, "a pod with a machine", func() bool { return len(bound(t)) > 0 })
	if got := once(); got != (autoscale.Step{Wanted: 2, Pending: 2}) {
		t.Errorf("asked but not started, after a restart: %+v", got)
	}

	// The worker of the pod runs, as its kubelet would run it.
	p := bound(t)[0]
	worker := exec.Command(binary, p.Spec.Containers[0].Args...)
	worker.Env = os.Environ()
	for _, e := range p.Spec.Containers[0].Env {
		if e.Value != "" {
			worker.Env = append(worker.Env, e.Name+"="+e.Value)
		}
	}
	worker.Env = append(worker.Env, "SVC_SERVER="+svc.URL, "SVC_NODE_KEY="+key, "SVC_BLENDER="+blender, "SVC_ALLOW_BLENDER_VERSION=true", "SVC_SANDBOX=auto", "SVC_EXIT_IDLE=5s")
	worker.Args = append(worker.Args, "--work="+t.TempDir()) // of several, the last counts
	worker.Stderr, worker.WaitDelay = t.Output(), time.Second
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	t.Cleanup(func() { _ = worker.Process.Kill() })
	tell(t, p.Metadata.Name, "Running", "True")
	await.Until(t, "the job of the pod counts as running", func() bool { got := once("--dry-run"); return got.Running == 1 && got.Pending <= 1 })

	stays := scaler("--every=1s")
	if err := stays.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		_ = stays.Process.Signal(os.Interrupt)
		_ = stays.Wait()
	}
	t.Cleanup(stop)
	done := c.Await(job.JobID, client.StatusCompleted)
	c.VerifiedZIP(done)
	svc.WantMoney(c.Workspace, story.Credit-int64(done.FrameCount), wallet.Credited, wallet.Reserved, wallet.Captured)
	await.Until(t, "what waited is taken back", func() bool { return len(jobs()) == 1 })
	if err := <-ended; err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	stop()
	tell(t, p.Metadata.Name, "Succeeded", "False")
	await.Until(t, "the ended job does not count", func() bool { return once("--dry-run") == (autoscale.Step{}) })
	if len(jobs()) != 1 {
		t.Errorf("left are %v, want the ended one", jobs())
	}
	if _, err := c.Take(c.QuoteFrames(1)); err != nil {
		t.Fatal(err)
	}
	if got := once(); got != (autoscale.Step{Wanted: 1, Started: 1}) {
		t.Errorf("another job: %+v", got)
	}
}
