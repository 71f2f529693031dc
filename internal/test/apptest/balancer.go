package apptest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"sync/atomic"
	"testing"

	"svc.example/internal/app"
)

// processes is how many processes ServeBalanced has serve one store.
const processes = 3

// ServeBalanced serves an open service as an operator with several processes does: further
// ones, each opened separately, serve the same store, and a balancer in front sends every
// request to the next of them. They share nothing but the store and the configuration; the
// embedded worker runs in the first. The balancer listens where the service would.
func ServeBalanced(t testing.TB, service *app.App) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", service.Config.Listen)
	if err != nil {
		t.Fatal(err)
	}
	url = "http://" + l.Addr().String()
	config := service.Config
	config.Listen = "127.0.0.1:0"
	if config.PublicURL == "" {
		config.PublicURL = url
	}
	service.Config = config
	address, end := Serve(t, service)
	addresses, ends := []string{address[len("http://"):]}, []func(){end}
	config.Embedded = nil
	for len(addresses) < processes {
		another, err := app.Open(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		address, end := Serve(t, another)
		addresses = append(addresses, address[len("http://"):])
		ends = append(ends, func() {
			end()
			if err := another.Close(); err != nil {
				t.Errorf("close one of the processes: %v", err)
			}
		})
	}
	balancer := &http.Server{Handler: Balancer(addresses)}
	served := make(chan struct{})
	go func() { defer close(served); _ = balancer.Serve(l) }()
	return url, func() {
		for _, end := range slices.Backward(ends) {
			end() // their streams end, and so do those through the balancer
		}
		ends = nil
		_ = balancer.Close()
		<-served
	}
}

// Balancer sends each request to the next of the servers, given as host:port. It passes on
// what comes, as it comes; a call that a server does not answer is cut.
func Balancer(servers []string) http.Handler {
	var turn atomic.Int64
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			next := servers[turn.Add(1)%int64(len(servers))]
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", next, r.In.Host
			r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
		},
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      log.New(io.Discard, "", 0),
	}
}
