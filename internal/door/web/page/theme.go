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
	return s.choice(themeCookie, theme, theme == Light || theme == Dark)
}

// layoutCookie keeps whether a reader prefers cards; without it the list of jobs is a table.
const layoutCookie = "svc_layout"

// CardsLayout is the list of jobs as cards.
const CardsLayout = "cards"

// Cards reports whether the reader of a page prefers the list of jobs as cards.
func Cards(r *http.Request) bool {
	cookie, err := r.Cookie(layoutCookie)
	return err == nil && cookie.Value == CardsLayout
}

// LayoutCookie keeps a layout of the list of jobs for a year; anything that is not CardsLayout
// gives the table back.
func (s *Base) LayoutCookie(layout string) *http.Cookie {
	return s.choice(layoutCookie, layout, layout == CardsLayout)
}

// choice keeps what a reader has chosen for a year, or forgets it.
func (s *Base) choice(name, value string, keep bool) *http.Cookie {
	cookie := &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure()}
	if !keep {
		cookie.Value, cookie.MaxAge = "", -1
	}
	return cookie
}
