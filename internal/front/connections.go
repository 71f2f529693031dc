package front

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// LimitConnections returns the http.Server.ConnState that lets most connections be open at
// once, and share of them from one address (/48 for IPv6, as much as one customer has); 0 means no share. A further caller
// is connected by the system and waits there until a place is free: net/http calls the
// function for a new connection before it accepts the next one. A further connection of an
// address is closed. Those from this machine have no share: a proxy sends everyone's.
//
// A listener that counts would do the same, but its connections would no longer be the
// system's own, and files would not reach them without a copy (sendfile).
func LimitConnections(most, share int) func(net.Conn, http.ConnState) {
	places := make(chan struct{}, most)
	var mu sync.Mutex
	open, addresses := map[net.Conn]string{}, map[string]int{}
	enter := func(c net.Conn) bool {
		address := connectedFrom(c)
		mu.Lock()
		defer mu.Unlock()
		if share > 0 && address != "" && addresses[address] >= share {
			return false
		}
		open[c] = address
		addresses[address]++
		return true
	}
	leave := func(c net.Conn) bool {
		mu.Lock()
		defer mu.Unlock()
		address, ok := open[c]
		if !ok {
			return false
		}
		delete(open, c)
		if addresses[address]--; addresses[address] == 0 {
			delete(addresses, address)
		}
		return true
	}
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if !enter(c) {
				_ = c.Close()
				return
			}
			places <- struct{}{}
		case http.StateClosed, http.StateHijacked:
			if leave(c) {
				<-places
			}
		}
	}
}

// connectedFrom is the address at the other end, of IPv6 the site; "" for this machine.
func connectedFrom(c net.Conn) string {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return wide(c.RemoteAddr().String())
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.IsLoopback() {
		return ""
	}
	if site, err := ip.Prefix(48); err == nil && ip.Is6() {
		return site.String()
	}
	return ip.String()
}
