package oauth

// Matches is Client.matches.
func Matches(redirects []string, redirect string) bool {
	return Client{Redirects: redirects}.matches(redirect)
}
