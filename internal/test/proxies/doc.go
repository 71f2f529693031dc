// Package proxies runs the service behind the proxies that operators put before it, each
// with no more configuration than it needs to forward: what a caller sees must not depend
// on the proxy. Its tests need programs that only make proxies installs, so they have the
// build tag proxies.
package proxies
