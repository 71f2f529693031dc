package front

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// subnet is how much of an IPv6 address names a client: one gets the rest to
// choose from.
const subnet = 64

// addressOf is where a request comes from. Behind hops trusted proxies it is what
// the outermost of them has written into X-Forwarded-For.
func addressOf(r *http.Request, hops int) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	if hops > 0 {
		said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from := strings.TrimSpace(said[max(0, len(said)-hops)]); from != "" {
			address = from
		}
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	wide, err := ip.Prefix(subnet)
	if err != nil {
		return ip.String()
	}
	return wide.String()
}
