package console

import (
	"net/http"
	"slices"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// Paths of the people of a workspace.
const (
	membersPath = links.MembersPath
	switchPath  = "/console/workspace"
)

// membersView is the content of the page of a workspace's members.
type membersView struct {
	Members []identity.MemberView
	// Spent is what they have spent this month, by their ids.
	Spent       map[string]int64
	Invitations []identity.Invitation
	// Me is the id of the person who looks.
	Me string
	// LastOwner says that this person cannot leave.
	LastOwner bool
	// Roles are those that can be given, the one that may do least first.
	Roles []identity.Role
	// Link is an invitation to pass on, where the service sends no mail; "" for none.
	Link string
	// Mails says that invitations are mailed.
	Mails bool
	// Domains are those whose people join when they sign in.
	Domains []identity.Domain
	// Domain is the one that this owner may claim, and NoDomain says why there is none; both ""
	// where nobody can.
	Domain, NoDomain string
	// Email and Role fill the form again.
	Email string
	Role  identity.Role
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
	// Notice confirms the last action; "" shows none.
	Notice string
}

// Others are the members besides the person who looks.
func (v membersView) Others() (others []identity.MemberView) {
	for _, m := range v.Members {
		if m.PersonID != v.Me {
			others = append(others, m)
		}
	}
	return others
}

// Claimed reports whether this owner's domain is claimed for this workspace.
func (v membersView) Claimed() bool {
	return slices.ContainsFunc(v.Domains, func(d identity.Domain) bool { return d.Name == v.Domain })
}

// Limit is what the field of a member's monthly limit has; "" for none.
func (membersView) Limit(m identity.MemberView) string {
	if m.MonthlyCents == nil {
		return ""
	}
	return wallet.Decimal(*m.MonthlyCents)
}

// membersRoutes adds the page of members, its forms, and what an invitation opens. Everyone
// in a workspace sees who is in it and can leave; the rest is the owners'.
func (s *Site) membersRoutes(mux *http.ServeMux) {
	mux.Handle("GET "+membersPath, s.Page(s.Admit(s.members)))
	mux.Handle("POST "+membersPath, s.Page(s.Form(identity.Owner, s.invite)))
	s.FormAt(mux, membersPath+"/leave", membersPath, identity.Viewer, s.changeMembers("leave", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return identity.Remove(r.Context(), tx, who, who.Credential.PersonID)
	}))
	s.FormAt(mux, membersPath+"/transfer", membersPath, identity.Owner, s.changeMembers("transfer", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return identity.Transfer(r.Context(), tx, who, r.PostForm.Get("person"))
	}))
	s.FormAt(mux, membersPath+"/{person_id}/role", membersPath, identity.Owner, s.changeMembers("role", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return identity.SetRole(r.Context(), tx, who, r.PathValue("person_id"), identity.Role(r.PostForm.Get("role")))
	}))
	s.FormAt(mux, membersPath+"/{person_id}/limit", membersPath, identity.Owner, s.changeMembers("limit", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		cents, err := page.Dollars("limit", strings.TrimSpace(r.PostForm.Get("limit")), 0, wallet.MaxCents)
		if err == nil {
			err = identity.SetMonthlyLimit(r.Context(), tx, who, r.PathValue("person_id"), cents)
		}
		return err
	}))
	s.FormAt(mux, membersPath+"/{person_id}/remove", membersPath, identity.Owner, s.changeMembers("remove", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return identity.Remove(r.Context(), tx, who, r.PathValue("person_id"))
	}))
	s.FormAt(mux, membersPath+"/invitations/{invitation_id}/revoke", membersPath, identity.Owner, s.changeMembers("revoke", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return s.Invitations.Revoke(r.Context(), tx, who, r.PathValue("invitation_id"))
	}))
	s.FormAt(mux, membersPath+"/domains", membersPath, identity.Owner, s.changeMembers("claim", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return s.Domains.Claim(r.Context(), tx, who, identity.Role(r.PostForm.Get("role")))
	}))
	s.FormAt(mux, membersPath+"/domains/release", membersPath, identity.Owner, s.changeMembers("release", func(r *http.Request, tx *db.Tx, who identity.Principal) error {
		return s.Domains.Release(r.Context(), tx, who, r.PostForm.Get("domain"))
	}))
	mux.Handle("GET "+links.InvitationPath, s.Page(s.Admit(s.invitation)))
	mux.Handle("POST "+links.InvitationPath, s.Page(s.Form(identity.Viewer, s.acceptInvitation)))
	s.FormAt(mux, switchPath, page.ConsolePath, identity.Viewer, s.switchWorkspace)
}

// did are the confirmations of the page of members, by what was done.
var did = map[string]string{
	"invite":   "The invitation is on its way.",
	"transfer": "The workspace has a new owner, and you are a member now. Keys that you made have ended.",
	"role":     "The role is changed.",
	"limit":    "The monthly limit is changed.",
	"remove":   "They are no longer in the workspace. Their sessions here and the keys that they made have ended.",
	"claim":    "People with that domain join when they sign in.",
	"release":  "Nobody joins by that domain any more. Those who joined stay.",
	"revoke":   "The invitation no longer works.",
}

// members builds the page of a workspace's members.
func (s *Site) members(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.membersPage(r, who, membersView{Role: identity.Member, Notice: did[r.URL.Query().Get("did")]})
}

func (s *Site) membersPage(r *http.Request, who identity.Principal, v membersView) (page.Page, error) {
	v.Me, v.Mails, v.Roles = who.Credential.PersonID, s.Invitations.Send != nil, []identity.Role{identity.Viewer, identity.Member, identity.Owner}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if v.Members, err = identity.Members(r.Context(), tx, who.WorkspaceID); err != nil {
			return err
		}
		if v.Spent, err = identity.MembersSpent(r.Context(), tx, who.WorkspaceID); err != nil {
			return err
		}
		if v.Domains, err = identity.DomainsOf(r.Context(), tx, who.WorkspaceID, "", identity.MaxMembers); err != nil {
			return err
		}
		if who.Role.Includes(identity.Owner) {
			if v.Invitations, err = s.Invitations.Open(r.Context(), tx, who.WorkspaceID); err == nil && s.Domains.Offered() {
				v.Domain, v.NoDomain, err = s.ownDomain(r, tx, who)
			}
		}
		return err
	})
	owners := 0
	for _, m := range v.Members {
		if m.Role == identity.Owner {
			owners++
		}
	}
	v.LastOwner = who.Role == identity.Owner && owners == 1
	return page.Page{Template: "members", Title: "Members", Section: page.SettingsSection, Content: v}, err
}

// ownDomain is the domain that an owner may claim, or why there is none.
func (s *Site) ownDomain(r *http.Request, tx *db.Tx, who identity.Principal) (domain, problem string, err error) {
	domain, err = s.Domains.Own(r.Context(), tx, who.Credential.PersonID)
	if fault.Is(err, fault.InvalidRequest) {
		_, wire := page.Refused(err)
		return "", wire.Message, nil
	}
	return domain, "", err
}

// refusedMembers builds the page of members with what was refused.
func (s *Site) refusedMembers(r *http.Request, who identity.Principal, v membersView, err error) (page.Page, error) {
	status, problem := page.Refused(err)
	if status >= http.StatusInternalServerError || fault.Is(err, fault.InsufficientRole) {
		return page.Page{}, err
	}
	v.Problem = problem
	p, err := s.membersPage(r, who, v)
	p.Status = status
	return p, err
}

// invite invites an address. Where the service sends no mail it does not redirect: the answer
// shows the link, which must not be in an address or be shown twice.
func (s *Site) invite(r *http.Request, who identity.Principal) (page.Page, error) {
	v := membersView{Email: r.PostForm.Get("email"), Role: identity.Role(r.PostForm.Get("role"))}
	var link string
	err := s.DB.Write(r.Context(), func(tx *db.Tx) (err error) {
		link, err = s.Invitations.Invite(r.Context(), tx, who, v.Email, v.Role)
		return err
	})
	switch {
	case err != nil:
		return s.refusedMembers(r, who, v, err)
	case link != "":
		return s.membersPage(r, who, membersView{Link: link, Role: identity.Member})
	}
	return page.Page{Location: membersPath + "?did=invite"}, nil
}

// changeMembers returns the handler of a form on the page of members. done names what the
// form does, for the confirmation.
func (s *Site) changeMembers(done string, do func(r *http.Request, tx *db.Tx, who identity.Principal) error) page.Build {
	return func(r *http.Request, who identity.Principal) (page.Page, error) {
		err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return do(r, tx, who) })
		switch {
		case err != nil:
			return s.refusedMembers(r, who, membersView{Role: identity.Member}, err)
		case done == "leave" || done == "remove" && r.PathValue("person_id") == who.Credential.PersonID: // the session has ended too
			return page.Page{Location: "/sign-in", Cookie: new(identity.ClearedCookie(s.Links.PublicURL))}, nil
		}
		return page.Page{Location: membersPath + "?did=" + done}, nil
	}
}

// invitationView is the content of the page that an invitation opens.
type invitationView struct {
	identity.Offer
	Token string
}

// invitation shows what an invitation offers. It changes nothing, because mail scanners
// follow links.
func (s *Site) invitation(r *http.Request, who identity.Principal) (page.Page, error) {
	v := invitationView{Token: r.URL.Query().Get("token")}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		v.Offer, err = s.Invitations.Find(r.Context(), tx, who, v.Token)
		return err
	})
	return page.Page{Template: "invitation", Title: "Invitation", Section: page.SettingsSection, NoScript: true, Content: v}, err
}

// acceptInvitation makes the person a member, and shows them the workspace.
func (s *Site) acceptInvitation(r *http.Request, who identity.Principal) (page.Page, error) {
	session, err := identity.SessionToken(r)
	if err != nil {
		return page.Page{}, err
	}
	return s.moved(r, func(tx *db.Tx) (identity.Opened, error) {
		return s.Invitations.Accept(r.Context(), tx, who, session, r.PostForm.Get("token"))
	})
}

// switchWorkspace shows the person another of their workspaces.
func (s *Site) switchWorkspace(r *http.Request, _ identity.Principal) (page.Page, error) {
	session, err := identity.SessionToken(r)
	if err != nil {
		return page.Page{}, err
	}
	return s.moved(r, func(tx *db.Tx) (identity.Opened, error) {
		return identity.Switch(r.Context(), tx, session, r.PostForm.Get("workspace_id"))
	})
}

// moved gives the browser the session that do opens in another workspace.
func (s *Site) moved(r *http.Request, do func(tx *db.Tx) (identity.Opened, error)) (page.Page, error) {
	var opened identity.Opened
	err := s.DB.Write(r.Context(), func(tx *db.Tx) (err error) {
		opened, err = do(tx)
		return err
	})
	if err != nil {
		return page.Page{}, err
	}
	return page.Page{Location: page.ConsolePath, Cookie: new(identity.SessionCookie(s.Links.PublicURL, opened.Token, opened.Expires))}, nil
}
