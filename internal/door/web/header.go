package web

import "net/http"

// setHeaders sets the headers of a page: its policy, its referrer, how long it may
// be cached. Only nosniff comes from elsewhere: front sets it, for files too.
func setHeaders(h http.Header, p page) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentPolicy(p.Forms, p.Scripts))
	// Addresses hold tokens and receipt ids. With no referrer at all a form's POST
	// would not say that it comes from here.
	h.Set("Referrer-Policy", "same-origin")
	if p.Unlisted {
		h.Set("X-Robots-Tag", "noindex")
	}
	switch {
	case p.Private || p.Status != 0:
		h.Set("Cache-Control", "no-store")
	case p.Unlisted: // its owner can switch it off
		h.Set("Cache-Control", "no-cache")
	default:
		h.Set("Cache-Control", "public, max-age=15")
	}
}

// contentPolicy lets a page load its own stylesheet and icon, and send forms and
// run scripts of this origin where it needs them. All else is forbidden: inline
// code, other origins, frames.
func contentPolicy(forms, scripts bool) string {
	return "default-src 'none'; style-src 'self'; img-src 'self'; script-src " + selfIf(scripts) +
		"; form-action " + selfIf(forms) + "; base-uri 'none'; frame-ancestors 'none'"
}

func selfIf(allowed bool) string {
	if allowed {
		return "'self'"
	}
	return "'none'"
}
