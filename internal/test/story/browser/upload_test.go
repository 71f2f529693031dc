package browser_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// A scene of 64 MB is uploaded over a slow connection that breaks three times: the page says so,
// resumes each time, and shows the price. What has arrived is not uploaded again.
func TestAnUploadOverAConnectionThatBreaksIsResumed(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const size = 64 << 20
		scene := filepath.Join(t.TempDir(), "heavy.blend")
		if err := os.WriteFile(scene, heavyScene(t, size), 0o600); err != nil {
			t.Fatal(err)
		}
		svc := story.Start(t, config)
		proxy := startSlowProxy(t, strings.TrimPrefix(svc.URL, "http://"), size/4, size/2, size*3/4)
		p := svc.Console(svc.Caller(story.Credit))
		p.Base = "http://" + proxy.address
		p.Open("/console/new")
		p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{scene}))
		for n := range 3 {
			await.Next(t, proxy.broke, "a break of the connection")
			p.Says("Connection lost. Trying again")
			p.Until("the list of jobs can name it", `document.cookie.includes("svc_upload=heavy.blend")`)
			if n == 1 { // the browser knows that it has no network
				offline(p, true)
				p.Says("You are offline. The upload resumes when you are back.")
				offline(p, false)
			}
			proxy.restore()
		}
		p.Says("Before you pay", "heavy.blend", "Render 24 frames for $0.24")
		if story.Look[bool](p.Tab, t, `document.cookie.includes("svc_upload")`) {
			t.Error("an upload that has arrived is named as unfinished")
		}
		t.Logf("%d bytes were sent for a file of %d", proxy.sent(), size)
		if sent := proxy.sent(); sent < size || sent > size*11/10 {
			t.Errorf("%d bytes were sent for a file of %d", sent, size)
		}
	})
}

// offline tells the browser that it has no network, and that it has one again.
func offline(p *story.Console, is bool) {
	p.T.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
		return err
	}))
}

// heavyScene is the demo scene with a block of noise, which nothing in it uses.
func heavyScene(t *testing.T, bytesMore int) []byte {
	t.Helper()
	scene := apptest.PlainScene(t)
	end := bytes.LastIndex(scene, []byte("ENDB"))
	if end < 0 {
		t.Fatal("the scene has no end")
	}
	le := binary.LittleEndian
	block := le.AppendUint32([]byte("DATA"), uint32(bytesMore))
	block = le.AppendUint64(block, 0xfeed) // where it was in memory
	block = le.AppendUint32(le.AppendUint32(block, 0), 1)
	noise := make([]byte, bytesMore)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{scene[:end], block, noise, scene[end:]}, nil)
}

// slowProxy passes connections on to a service, slowly, and counts what is sent to it. It breaks
// when so many bytes have been sent, and then passes nothing on until it is restored.
type slowProxy struct {
	address string
	broke   chan struct{} // receives one value at each break
	server  string
	pace    *time.Ticker // of reads

	mu      sync.Mutex
	bytes   int64
	breaks  []int64 // that are still to come
	down    bool
	open    map[net.Conn]bool
	carries sync.WaitGroup
}

func startSlowProxy(t *testing.T, server string, breaks ...int64) *slowProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &slowProxy{
		address: l.Addr().String(), server: server, broke: make(chan struct{}, len(breaks)), breaks: breaks,
		pace: time.NewTicker(4 * time.Millisecond), open: map[net.Conn]bool{},
	}
	n.carries.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.carries.Go(func() { n.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		n.cut()
		n.carries.Wait()
		n.pace.Stop()
	})
	return n
}

// carry passes one connection on until either side or a break ends it.
func (n *slowProxy) carry(browser net.Conn) {
	defer func() { _ = browser.Close() }()
	service, err := net.Dial("tcp", n.server)
	if err != nil {
		return
	}
	defer func() { _ = service.Close() }()
	if !n.hold(browser, service) {
		return
	}
	n.carries.Go(func() {
		defer func() { _ = browser.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			got, err := service.Read(buffer)
			if _, failed := browser.Write(buffer[:got]); err != nil || failed != nil {
				return
			}
		}
	})
	buffer := make([]byte, 64<<10)
	for {
		<-n.pace.C
		got, err := browser.Read(buffer)
		if !n.count(got) {
			return
		}
		if _, failed := service.Write(buffer[:got]); err != nil || failed != nil {
			return
		}
	}
}

// hold notes the ends of a connection; false while the proxy is down.
func (n *slowProxy) hold(ends ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, end := range ends {
		n.open[end] = true
	}
	return !n.down
}

// count counts bytes, and breaks the connections when it is time; false when it is down.
func (n *slowProxy) count(bytes int) bool {
	n.mu.Lock()
	n.bytes += int64(bytes)
	breaks := len(n.breaks) > 0 && n.bytes >= n.breaks[0]
	if breaks {
		n.breaks = n.breaks[1:]
	}
	down := n.down
	n.mu.Unlock()
	if breaks {
		n.cut()
		n.broke <- struct{}{}
	}
	return !breaks && !down
}

// cut ends all connections, and those to come until the proxy is restored.
func (n *slowProxy) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for end := range n.open {
		_ = end.Close()
	}
	clear(n.open)
}

func (n *slowProxy) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}

// sent is how many bytes the browser has sent.
func (n *slowProxy) sent() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bytes
}
