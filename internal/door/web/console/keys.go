package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// keysView is the content of the page of keys.
type keysView struct {
	Agent, Account []identity.Key
	// New is the key that was made just now; nil for none. Its secret is shown
	// this once.
	New *newKey
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// Name, Limit and Days fill the form again.
	Name, Limit, Days string
	Test              bool
	Now               time.Time
}

// newKey is a key on the one page that shows its secret.
type newKey struct {
	identity.NewKey
	// Agent says that it is an agent key.
	Agent bool
}

// keys builds the page of a workspace's keys.
func (s *Site) keys(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.keysPage(r, who, keysView{})
}

func (s *Site) keysPage(r *http.Request, who identity.Principal, v keysView) (page.Page, error) {
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if v.Agent, err = identity.AgentKeys(r.Context(), tx, who.WorkspaceID); err != nil {
			return err
		}
		v.Now = tx.Time()
		v.Account, err = identity.AccountKeys(r.Context(), tx, who.WorkspaceID)
		return err
	})
	return page.Page{Template: "keys", Title: "Keys", Section: page.KeysSection, Content: v}, err
}

// createKey makes a key. It does not redirect: the answer shows the secret, which must not
// be in an address or be shown twice.
func (s *Site) createKey(r *http.Request, who identity.Principal) (page.Page, error) {
	v := keysView{Name: r.PostForm.Get("name"), Limit: strings.TrimSpace(r.PostForm.Get("limit")), Days: r.PostForm.Get("days"), Test: r.PostForm.Get("test") == "yes"}
	made := &newKey{Agent: r.PostForm.Get("kind") != "account"}
	terms := identity.AgentTerms{Name: v.Name, Test: v.Test, MadeBy: who.Credential.PersonID}
	var err error
	if v.Test && !s.TestMode {
		err = fault.New(fault.WrongMode, "This service has no test mode.")
	} else if terms.SpendLimitCents, err = page.Dollars("limit", v.Limit, 0, wallet.MaxCents); err == nil {
		terms.Life, err = lifeOf(v.Days)
	}
	if err == nil {
		err = s.DB.Write(r.Context(), func(tx *db.Tx) (err error) {
			if made.Agent {
				made.NewKey, err = identity.CreateAgentKey(r.Context(), tx, who.WorkspaceID, terms)
				return err
			}
			made.NewKey, err = identity.CreateOwnAccountKey(r.Context(), tx, who, v.Name, v.Test)
			return err
		})
	}
	if err != nil {
		return s.refusedKeys(r, who, v, err)
	}
	return s.keysPage(r, who, keysView{New: made})
}

// revokeKey ends a key at once.
func (s *Site) revokeKey(r *http.Request, who identity.Principal) (page.Page, error) {
	revoke := identity.RevokeAgentKey
	if r.PostForm.Get("kind") == "account" {
		revoke = identity.RevokeAccountKey
	}
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return revoke(r.Context(), tx, who.WorkspaceID, r.PathValue("key_id")) })
	if err != nil {
		return s.refusedKeys(r, who, keysView{}, err)
	}
	return page.Page{Location: keysPath}, nil
}

func (s *Site) refusedKeys(r *http.Request, who identity.Principal, v keysView, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError {
		return page.Page{}, err
	}
	v.Problem = problem
	p, err := s.keysPage(r, who, v)
	p.Status = status
	return p, err
}

// lifeOf reads the field of how long a key works: days from 1 to 3650, or "" for no end.
// Error: invalid_request.
func lifeOf(days string) (time.Duration, error) {
	if days == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 1 || n > 3650 {
		return 0, fault.Field("days", "must be 1 to 3650 days, or empty")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}
