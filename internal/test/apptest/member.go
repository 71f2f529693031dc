package apptest

import (
	"net/url"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// Join brings a person into a workspace as its first owner invites them, and returns the token
// of their session there.
func Join(t testing.TB, d *db.DB, workspaceID, email string, role identity.Role) (session string) {
	t.Helper()
	ctx := t.Context()
	invitations := identity.Invitations{DB: d, Address: links.Links{PublicURL: "https://svc.example", Key: []byte("a key")}}
	err := d.Write(ctx, func(tx *db.Tx) error {
		people, err := identity.Members(ctx, tx, workspaceID)
		if err != nil {
			return err
		}
		owner := identity.Principal{WorkspaceID: workspaceID, Credential: identity.Credential{PersonID: people[0].PersonID}}
		link, err := invitations.Invite(ctx, tx, owner, email, role)
		if err != nil {
			return err
		}
		token, err := identity.CreateSignInLink(ctx, tx, email)
		if err != nil {
			return err
		}
		opened, err := identity.SignIn(ctx, tx, token, "")
		if err != nil {
			return err
		}
		at, err := url.Parse(link)
		if err != nil {
			return err
		}
		who := identity.Principal{Credential: identity.Credential{Kind: identity.SessionCredential, Email: opened.Person.Email, PersonID: opened.Person.PersonID}}
		opened, err = invitations.Accept(ctx, tx, who, opened.Token, at.Query().Get("token"))
		session = opened.Token
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}
