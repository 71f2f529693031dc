package front

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// subnet is how many bits of an IPv6 address name a client, who may choose the
// others freely.
const subnet = 64

// addressOf is the caller's address. Behind hops trusted proxies it is what the
// outermost of them wrote into X-Forwarded-For.
func addressOf(r *http.Request, hops int) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	if hops > 0 {
		chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from := strings.TrimSpace(chain[max(0, len(chain)-hops)]); from != "" {
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
