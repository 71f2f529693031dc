package page

import "net/http"

// SetHeaders sets the headers of a page: policy, referrer, and how long caches
// may keep it. nosniff comes from package front, which sets it for files as
// well.
func SetHeaders(h http.Header, p Page) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentPolicy(p.Forms, len(p.Scripts) > 0, p.FormsTo))
	// Addresses contain sign-in tokens and receipt ids, so other sites get no
	// referrer. "no-referrer" would be too strict: browsers then send "Origin:
	// null" with a form, which could not be distinguished from a form of
	// another site.
	h.Set("Referrer-Policy", "same-origin")
	if p.Unlisted {
		h.Set("X-Robots-Tag", "noindex")
	}
	switch {
	case p.Private || p.Status != 0:
		h.Set("Cache-Control", "no-store")
	case p.Theme != "": // it is of this reader's theme
		h.Set("Cache-Control", "private, no-cache")
	case p.Unlisted: // its owner can switch it off
		h.Set("Cache-Control", "no-cache")
	default:
		h.Set("Cache-Control", "public, max-age=15")
	}
}

// contentPolicy returns the Content-Security-Policy of a page. It allows the service's own
// stylesheet, typeface and pictures. If the page needs them, it also allows forms to this origin and to where
// its answer leads (formsTo), and scripts of this origin, which may call it. Everything else is
// forbidden: inline code, other origins, frames.
func contentPolicy(forms, scripts bool, formsTo string) string {
	if formsTo != "" {
		formsTo = " " + formsTo
	}
	return "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src " + selfIf(scripts) + "; connect-src " + selfIf(forms && scripts) +
		"; form-action " + selfIf(forms) + formsTo + "; base-uri 'none'; frame-ancestors 'none'"
}

// selfIf returns the source list that allows this origin, or nothing.
func selfIf(allowed bool) string {
	if allowed {
		return "'self'"
	}
	return "'none'"
}
