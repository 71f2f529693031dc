package identity

import (
	"net/http"
	"net/url"
)

// OwnPages knows the service's own pages: those of the host that was asked, and
// of the public URL, where a proxy asks by another name. What another site's page
// sends with a person's cookie is not the person's wish.
func OwnPages(publicURL string) *http.CrossOriginProtection {
	own := http.NewCrossOriginProtection()
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		_ = own.AddTrustedOrigin(u.Scheme + "://" + u.Host) // of this form it is always taken
	}
	return own
}
