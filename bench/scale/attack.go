package scale

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/frames"
)

// AttackFlag makes this program attack a service, until SIGTERM. It reads an attackOrder from
// standard input and prints how often it was answered with what.
const AttackFlag = "attack"

// attackOrder says whom to attack.
type attackOrder struct {
	URL     string
	Attacks []string // names of the attacks to make at once
	Keys    []string // agent keys of one workspace
	NodeKey string
	JobID   string // of a job of that workspace, which has not ended
	Proof   string // path of the page that proves another one
	Scene   string // path of a .blend
}

// attack is one way to take from others what a service has to share. So many senders send as
// fast as they are answered, and ignore requests to wait. It reached what it attacks if it was
// answered in all of these ways. To add one, add it to attacks.
type attack struct {
	name, note string
	answers    []string
	together   bool // it is part of what a hostile workspace does at once
	senders    int
	send       func(ctx context.Context, a *attacker, key string) error
}

// Sizes of what is sent.
const (
	attackStreams = 300 // each is held open
	attackCalls   = 500 // in one JSON-RPC array
	attackJunk    = 1 << 20
	attackNames   = 9_998
	attackTimes   = 90 // how often a project lists one part
	attackHeld    = 5 * time.Second
)

var attacks = []attack{
	{"uploads", "inspections of files of 1 MiB, each another one", []string{"200", "429"}, true, 4, func(ctx context.Context, a *attacker, key string) error { return a.upload(ctx, key) }},
	{"reads", "the status of a job", []string{"200", "429"}, true, 8, func(ctx context.Context, a *attacker, key string) error {
		return a.ask(ctx, key, http.MethodGet, "/node/v1/jobs/"+a.JobID, "", nil)
	}},
	{"streams", "300 open event streams", []string{"200", "429"}, true, attackStreams, func(ctx context.Context, a *attacker, key string) error {
		return a.ask(ctx, key, http.MethodGet, "/node/v1/jobs/"+a.JobID+"/events", "", nil)
	}},
	{"arrays", "JSON-RPC arrays of 500 calls", []string{"429"}, true, 2, func(ctx context.Context, a *attacker, key string) error {
		return a.ask(ctx, key, http.MethodPost, "/mcp", "application/json", strings.NewReader(a.array))
	}},
	{"names", "projects of 9,999 files, all but one of them empty", []string{"200", "429"}, false, 4, func(ctx context.Context, a *attacker, key string) error {
		return a.project(ctx, key, attackNames, 0)
	}},
	{"hashes", "projects that list one part of 1 MiB 90 times", []string{"200", "429"}, false, 4, func(ctx context.Context, a *attacker, key string) error {
		return a.project(ctx, key, 0, attackTimes)
	}},
	{"proofs", "pages that verify a receipt, without a key", []string{"200", "429"}, false, 8, func(ctx context.Context, a *attacker, _ string) error {
		return a.ask(ctx, "", http.MethodGet, a.Proof, "", nil)
	}},
	{"sign-ins", "requests for sign-in links to addresses that nobody has", []string{"200", "429"}, false, 8, func(ctx context.Context, a *attacker, _ string) error {
		form := url.Values{"email": {hex.EncodeToString(random(8)) + "@example.com"}}.Encode()
		return a.ask(ctx, "", http.MethodPost, "/console/sign-in", "application/x-www-form-urlencoded", strings.NewReader(form))
	}},
	{"devices", "devices that ask for a code", []string{"200", "429"}, false, 8, func(ctx context.Context, a *attacker, _ string) error {
		form := url.Values{"client_id": {"https://app.example/client.json"}}.Encode()
		return a.ask(ctx, "", http.MethodPost, "/oauth/device", "application/x-www-form-urlencoded", strings.NewReader(form))
	}},
	{"connections", "2,000 connections that begin a request and end it never", []string{"held"}, false, 2_000, func(ctx context.Context, a *attacker, _ string) error { return a.hold(ctx) }},
	{"deliveries", "pictures of 1 MiB for leases that nobody has", []string{"409"}, false, 4, func(ctx context.Context, a *attacker, _ string) error {
		sum := sumOf(a.part)
		err := a.node.Deliver(ctx, farmapi.FrameResult{
			WorkerID: a.worker, LeaseID: frames.LeaseID(a.JobID, contract.MaxFrames), Attempt: 1, JobID: a.JobID, Frame: contract.MaxFrames, File: "frame_10000.png",
			SHA256: sum, PixelSHA256: sum, SizeBytes: attackJunk, Width: 512, Height: 512, Device: "CPU",
		}, bytes.NewReader(a.part))
		if refused, ok := errors.AsType[*farmapi.Error](err); ok {
			a.count(fmt.Sprint(refused.Status))
		}
		return err
	}},
}

// Attack carries out an order.
func Attack(ctx context.Context, from io.Reader, to io.Writer) error {
	var order attackOrder
	if err := json.NewDecoder(from).Decode(&order); err != nil {
		return err
	}
	scene, err := os.ReadFile(order.Scene)
	if err != nil {
		return err
	}
	// Other callers have other addresses.
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: attackHeld}
	a := attacker{
		attackOrder: order, scene: scene, part: random(attackJunk), answers: map[string]int{}, dial: dialer.DialContext,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: attackStreams, DialContext: dialer.DialContext}},
		node:   farmapi.NewClient(order.URL, order.NodeKey),
		array:  "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/list"},`, attackCalls), ",") + "]",
	}
	worker, err := a.node.Register(ctx, farmapi.RegisterRequest{Name: "hostile", Renderer: contract.SyntheticRenderer, Device: "CPU"})
	if err != nil {
		return err
	}
	a.worker = worker.WorkerID
	var all sync.WaitGroup
	for _, one := range attacks {
		if !slices.Contains(order.Attacks, one.name) {
			continue
		}
		for i := range one.senders {
			all.Go(func() {
				for ctx.Err() == nil {
					_ = one.send(ctx, &a, order.Keys[i%len(order.Keys)]) // counted in any case
				}
			})
		}
	}
	all.Wait()
	return json.NewEncoder(to).Encode(a.answers)
}

// attacker counts what it is answered.
type attacker struct {
	attackOrder
	scene   []byte
	part    []byte
	array   string
	node    *farmapi.Client
	worker  string // the id of a worker that holds no frame
	client  *http.Client
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	mu      sync.Mutex
	answers map[string]int // by status, or "error"
}

// upload sends the scene followed by so much junk that each file is different.
func (a *attacker) upload(ctx context.Context, key string) error {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err != nil {
		return err
	}
	if _, err = part.Write(a.scene); err == nil {
		_, err = part.Write(random(attackJunk))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return a.ask(ctx, key, http.MethodPost, "/node/v1/uploads/inspect", w.FormDataContentType(), &body)
}

// project sends a scene with so many empty files next to it, and one of so many equal parts.
func (a *attacker) project(ctx context.Context, key string, names, times int) error {
	type file struct {
		Path      string   `json:"path"`
		SizeBytes int      `json:"size_bytes"`
		Parts     []string `json:"parts"`
	}
	files := []file{{"a.blend", len(a.scene), []string{sumOf(a.scene)}}}
	for i := range names {
		files = append(files, file{fmt.Sprintf("%x%x", random(2), i), 0, []string{}})
	}
	for i := range times { // each file has its own name, and the content of all
		files = append(files, file{fmt.Sprintf("%x%x.exr", random(2), i), len(a.part), []string{sumOf(a.part)}})
	}
	listing, err := json.Marshal(map[string]any{"main": "a.blend", "files": files})
	if err != nil {
		return err
	}
	for _, content := range [][]byte{a.scene, a.part} {
		if err := a.ask(ctx, key, http.MethodPut, "/node/v1/parts/"+sumOf(content), "application/octet-stream", bytes.NewReader(content)); err != nil {
			return err
		}
	}
	return a.ask(ctx, key, http.MethodPost, "/node/v1/projects", "application/json", bytes.NewReader(listing))
}

// hold opens a connection, begins a request and waits.
func (a *attacker) hold(ctx context.Context) error {
	at, err := url.Parse(a.URL)
	if err != nil {
		return err
	}
	c, err := a.dial(ctx, "tcp", at.Host)
	if err != nil {
		a.count("error")
		return err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if _, err := io.WriteString(c, "GET /v1/health HTTP/1.1\r\nHost: "); err != nil {
		a.count("error")
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(attackHeld))
	_, err = io.Copy(io.Discard, c)
	a.count("held")
	return err
}

// ask asks once and reads the answer to its end.
func (a *attacker) ask(ctx context.Context, key, method, path, kind string, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, body)
	if err != nil {
		return err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		a.count("error")
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	a.count(fmt.Sprint(answer.StatusCode))
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func (a *attacker) count(answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[answer]++
}

func random(n int) []byte {
	p := make([]byte, n)
	_, _ = rand.Read(p) // it never fails
	return p
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
