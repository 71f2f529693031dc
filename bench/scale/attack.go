package scale

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"sync"

	"svc.example/internal/ground/demo"
)

// AttackFlag makes this program attack a service as one workspace, until SIGTERM. It reads
// an attackOrder from standard input and prints how often it was answered with what.
const AttackFlag = "attack"

// attackOrder says whom to attack.
type attackOrder struct {
	URL   string
	Keys  []string // agent keys of one workspace
	JobID string   // of a job of that workspace, which has not ended
	Scene string   // path of a .blend
}

// How many of each kind of request are in progress at once.
const (
	attackUploads = 4
	attackPolls   = 8
	attackStreams = 300 // each is held open
	attackArrays  = 2
	attackCalls   = 500 // in one JSON-RPC array
	attackJunk    = 1 << 20
)

// Attack sends what costs most as fast as it is answered, and ignores requests to wait.
func Attack(ctx context.Context, from io.Reader, to io.Writer) error {
	var order attackOrder
	if err := json.NewDecoder(from).Decode(&order); err != nil {
		return err
	}
	scene, err := os.ReadFile(order.Scene)
	if err != nil {
		return err
	}
	a := attacker{
		attackOrder: order, scene: scene, answers: map[string]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: attackStreams}},
	}
	array := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/list"},`, attackCalls), ",") + "]"
	var all sync.WaitGroup
	each := func(n int, do func(key string) error) {
		for i := range n {
			all.Go(func() {
				for ctx.Err() == nil {
					_ = do(a.Keys[i%len(a.Keys)]) // counted in any case
				}
			})
		}
	}
	each(attackUploads, func(key string) error {
		form, kind, err := a.upload()
		if err != nil {
			return err
		}
		return a.send(ctx, key, http.MethodPost, "/node/v1/uploads/inspect", kind, form)
	})
	each(attackPolls, func(key string) error {
		return a.send(ctx, key, http.MethodGet, "/node/v1/jobs/"+a.JobID, "", nil)
	})
	each(attackStreams, func(key string) error {
		return a.send(ctx, key, http.MethodGet, "/node/v1/jobs/"+a.JobID+"/events", "", nil)
	})
	each(attackArrays, func(key string) error {
		return a.send(ctx, key, http.MethodPost, "/mcp", "application/json", strings.NewReader(array))
	})
	all.Wait()
	return json.NewEncoder(to).Encode(a.answers)
}

// attacker counts what it is answered.
type attacker struct {
	attackOrder
	scene   []byte
	client  *http.Client
	mu      sync.Mutex
	answers map[string]int // by status, or "error"
}

// upload is a form with the scene followed by so much junk that each file is different.
func (a *attacker) upload() (form io.Reader, kind string, err error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err != nil {
		return nil, "", err
	}
	if _, err = part.Write(a.scene); err == nil {
		_, err = io.CopyN(part, rand.Reader, attackJunk)
	}
	if err == nil {
		err = w.Close()
	}
	return &body, w.FormDataContentType(), err
}

// send asks once and reads the answer to its end.
func (a *attacker) send(ctx context.Context, key, method, path, kind string, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, method, a.URL+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
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
