package page

import "net/http"

// themeCookie keeps the theme that a reader has chosen; without it pages follow the system's.
const themeCookie = "svc_theme"

// Themes that a reader can choose.
const (
	Light = "light"
	Dark  = "dark"
)

// ThemeOf is the theme that the reader of a page has chosen; "" for the system's.
func ThemeOf(r *http.Request) string {
	cookie, err := r.Cookie(themeCookie)
	if err != nil || cookie.Value != Light && cookie.Value != Dark {
		return ""
	}
	return cookie.Value
}

// ThemeCookie keeps a theme for a year; anything that is no theme gives the system's back.
func (s *Base) ThemeCookie(theme string) *http.Cookie {
	cookie := &http.Cookie{Name: themeCookie, Value: theme, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure()}
	if theme != Light && theme != Dark {
		cookie.Value, cookie.MaxAge = "", -1
	}
	return cookie
}
