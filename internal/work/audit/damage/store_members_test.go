package damage_test

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// team brings people into a workspace, and leaves an invitation open.
func (s *store) team(owner identity.Opened) {
	s.Helper()
	apptest.Join(s, s.app.DB, owner.Person.WorkspaceID, "member@example.com", identity.Member)
	apptest.Join(s, s.app.DB, owner.Person.WorkspaceID, "viewer@example.com", identity.Viewer)
	invitations := identity.Invitations{DB: s.app.DB, Address: links.Links{PublicURL: "https://svc.example", Key: []byte("a key")}}
	who := identity.Principal{WorkspaceID: owner.Person.WorkspaceID, Credential: identity.Credential{PersonID: owner.Person.PersonID}}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		if err := identity.SetMonthlyLimit(ctx, tx, who, owner.Person.PersonID, new(int64(1_000_000))); err != nil {
			return err
		}
		_, err := invitations.Invite(ctx, tx, who, "open@example.com", identity.Viewer)
		return err
	})
}
