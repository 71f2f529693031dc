package damage_test

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
)

// team brings people into a workspace, and leaves an invitation open.
func (s *store) team(owner identity.Opened) {
	s.Helper()
	apptest.Join(s, s.app.DB, owner.Person.WorkspaceID, "member@example.com", identity.Member)
	apptest.Join(s, s.app.DB, owner.Person.WorkspaceID, "viewer@example.com", identity.Viewer)
	invitations := identity.Invitations{DB: s.app.DB, Address: links.Links{PublicURL: "https://svc.example", Key: []byte("a key")}}
	who := identity.Principal{WorkspaceID: owner.Person.WorkspaceID, Credential: identity.Credential{PersonID: owner.Person.PersonID}}
	apptest.Join(s, s.app.DB, owner.Person.WorkspaceID, "left@example.com", identity.Viewer)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Members(ctx, tx, owner.Person.WorkspaceID)
		if err != nil {
			return err
		}
		if err := identity.Remove(ctx, tx, who, all[len(all)-1].PersonID); err != nil {
			return err
		}
		const issuer = "https://issuer.example.com"
		domains := identity.Domains{Issuer: issuer}
		studio, err := domains.SignIn(ctx, tx, identity.Login{Issuer: issuer, Subject: "studio", Email: "owner@studio.example", EmailVerified: true}, "")
		if err != nil {
			return err
		}
		return domains.Claim(ctx, tx, identity.Principal{WorkspaceID: studio.Person.WorkspaceID, Credential: identity.Credential{PersonID: studio.Person.PersonID}}, identity.Viewer)
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		_, err := savedfilter.Save(ctx, tx, who, savedfilter.Filter{
			Name: "everything", Status: job.Failed, Search: job.Filter{Text: "hero shot", Tag: "client a", From: "2026-11-01", To: "2026-11-30", Person: "member", Frames: "1-20"},
		})
		return err
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		if err := identity.SetMonthlyLimit(ctx, tx, who, owner.Person.PersonID, new(int64(1_000_000))); err != nil {
			return err
		}
		_, err := invitations.Invite(ctx, tx, who, "open@example.com", identity.Viewer)
		return err
	})
}
