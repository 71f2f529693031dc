package front

import (
	"net"
	"net/http"
)

// LimitConnections returns the http.Server.ConnState that lets most connections be open at
// once. A further caller is connected by the system and waits there until a place is free:
// net/http calls the function for a new connection before it accepts the next one.
//
// A listener that counts would do the same, but its connections would no longer be the
// system's own, and files would not reach them without a copy (sendfile).
func LimitConnections(most int) func(net.Conn, http.ConnState) {
	places := make(chan struct{}, most)
	return func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			places <- struct{}{}
		case http.StateClosed, http.StateHijacked:
			<-places
		}
	}
}
