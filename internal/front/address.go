package front

import (
	"net/http"
	"net/netip"
	"strings"
)

// subnet is how many bits of an IPv6 address identify a client. The holder of a
// /64 chooses the other bits freely and could evade a limit per address.
const subnet = 64

// addressOf returns the caller's address for the rate limit. With hops trusted
// proxies in front, it is what the outermost of them wrote into
// X-Forwarded-For. The caller can forge entries further left. An address that
// cannot be parsed is "unknown", so all such callers share one count.
func addressOf(r *http.Request, hops int) string {
	address := r.RemoteAddr
	if hops > 0 {
		chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from := strings.TrimSpace(chain[max(0, len(chain)-hops)]); from != "" {
			address = from
		}
	}
	return wide(address)
}

// wide is the client of an address: IPv4 as it is, of IPv6 the subnet.
func wide(address string) string {
	ip, err := parseAddress(address)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(subnet)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}

// parseAddress parses an address as servers and proxies write it: alone, with a port, in
// brackets, or both.
func parseAddress(text string) (netip.Addr, error) {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr(), nil
	}
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed {
		text = strings.TrimSuffix(inner, "]")
	}
	return netip.ParseAddr(text)
}
