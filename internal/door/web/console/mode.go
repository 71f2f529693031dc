package console

import (
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// modePath switches test mode on and off.
const modePath = "/console/mode"

// switchMode sets or clears the cookie by which the console shows the workspace's test world.
// It lasts as long as the browser's session, so a person who comes back tomorrow sees real
// jobs.
func (s *Site) switchMode(r *http.Request, _ identity.Principal) (page.Page, error) {
	cookie := http.Cookie{Name: contract.ModeCookie, Value: contract.ModeTest, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure()}
	switch r.PostForm.Get("to") {
	case contract.ModeTest:
		if !s.TestMode {
			return page.Page{}, fault.New(fault.WrongMode, "This service has no test mode.")
		}
	case "real":
		cookie.Value, cookie.MaxAge = "", -1
	default:
		return page.Page{}, fault.Field("to", "must be test or real")
	}
	return page.Page{Location: page.ConsolePath, Cookie: &cookie}, nil
}
