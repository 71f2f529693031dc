// Package nametest is a name server on this machine, whose answers a test changes. Start
// reading at Serve.
package nametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// Names is a name server on this machine whose answers a test may change.
type Names struct {
	mu      sync.Mutex
	fails   bool
	answers map[string][]string
	conn    net.PacketConn
}

// Serve answers with the addresses of each name, until the test ends. Other names do not exist.
func Serve(t *testing.T, answers map[string][]string) *Names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Names{answers: answers, conn: conn}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve()
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return n
}

// Set gives a name other addresses.
func (n *Names) Set(name string, ips ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[name] = ips
}

// Fail has every lookup fail from now on, or no longer.
func (n *Names) Fail(fails bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails = fails
}

func (n *Names) serve() {
	buf := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer := n.answer(buf[:size]); answer != nil {
			_, _ = n.conn.WriteTo(answer, from)
		}
	}
}

// The parts of a DNS message (RFC 1035, 4) that the resolver needs.
const (
	dnsHeader = 12
	typeA     = 1
	typeAAAA  = 28

	serverFailure = 2 // SERVFAIL
	nameError     = 3 // NXDOMAIN
)

// answer is the reply to a message that asks one question, or nil.
func (n *Names) answer(query []byte) []byte {
	if len(query) < dnsHeader || binary.BigEndian.Uint16(query[4:]) != 1 {
		return nil
	}
	var labels []string
	end := dnsHeader
	for end < len(query) && query[end] != 0 {
		next := end + 1 + int(query[end])
		if next > len(query) {
			return nil
		}
		labels = append(labels, strings.ToLower(string(query[end+1:next])))
		end = next
	}
	if end += 1 + 4; end > len(query) { // the root label, type and class
		return nil
	}
	n.mu.Lock()
	ips, known := n.answers[strings.Join(labels, ".")]
	fails := n.fails
	n.mu.Unlock()

	reply := bytes.Clone(query[:end])         // the id and the question, without what may follow
	reply[2], reply[3] = 0x80|0x04|0x01, 0x80 // a response, authoritative, recursion desired and available
	clear(reply[6:dnsHeader])                 // no record but the answers
	switch {
	case fails:
		reply[3] |= serverFailure
		return reply
	case !known:
		reply[3] |= nameError
	}
	for _, s := range ips {
		ip := netip.MustParseAddr(s)
		kind := uint16(typeA)
		if ip.Is6() {
			kind = typeAAAA
		}
		if kind != binary.BigEndian.Uint16(query[end-4:]) {
			continue
		}
		reply[7]++
		reply = append(reply, 0xc0, dnsHeader) // the name: see the question's
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = binary.BigEndian.AppendUint16(reply, 1) // the Internet's class
		reply = binary.BigEndian.AppendUint32(reply, 1) // kept for one second
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(ip.AsSlice())))
		reply = append(reply, ip.AsSlice()...)
	}
	return reply
}

// Resolver asks only n.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}
