package identity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/notice"
)

// MemberView is a person of a workspace, as the others see them.
type MemberView struct {
	PersonID string
	Email    string
	Role     Role
	Since    time.Time
	// AddedBy is the address of the person who invited them, or @ and the domain by which they
	// joined; "" where the workspace began with them, or that person is gone.
	AddedBy string
	// MonthlyCents is what they may spend in a calendar month (UTC); nil for no limit.
	MonthlyCents *int64
}

// Joined is how AddedBy brought them in.
func (m MemberView) Joined() string {
	if strings.HasPrefix(m.AddedBy, joinedBy("")) {
		return "joined"
	}
	return "invited"
}

// Members lists the people of a workspace, the earliest first.
func Members(ctx context.Context, tx *db.Tx, workspaceID string) ([]MemberView, error) {
	rows, err := tx.MembersOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list members: %w", err)
	}
	all := make([]MemberView, len(rows))
	for i, r := range rows {
		all[i] = MemberView{r.PersonID, r.Email, Role(r.Role), db.Time(r.Since), r.AddedBy, limitOf(r.MonthlyCents)}
	}
	return all, nil
}

// Membership is a workspace of a person.
type Membership struct {
	WorkspaceID, Name string
	Role              Role
}

// Memberships lists the workspaces of a person, by name.
func Memberships(ctx context.Context, tx *db.Tx, personID string) ([]Membership, error) {
	rows, err := tx.WorkspacesOf(ctx, personID)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces of a person: %w", err)
	}
	all := make([]Membership, len(rows))
	for i, r := range rows {
		all[i] = Membership{r.WorkspaceID, r.Name, Role(r.Role)}
	}
	return all, nil
}

// join makes a person a member of a workspace. It changes nothing for a member.
func join(ctx context.Context, tx *db.Tx, workspaceID, personID string, role Role, addedBy string) (joined bool, err error) {
	row := query.Member{WorkspaceID: workspaceID, PersonID: personID, Role: string(role), Since: tx.Now, AddedBy: addedBy}
	row.RowSum = members.Of(row)
	n, err := tx.MemberCreate(ctx, query.MemberCreateParams(row))
	if err != nil {
		return false, fmt.Errorf("add a member: %w", err)
	}
	return n == 1, nil
}

// roleIn reads the role of a person in a workspace; "" for none.
func roleIn(ctx context.Context, tx *db.Tx, workspaceID, personID string) (Role, error) {
	row, err := tx.MemberGet(ctx, query.MemberGetParams{WorkspaceID: workspaceID, PersonID: personID})
	if db.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read a member: %w", err)
	}
	return Role(row.Role), nil
}

// lockFor locks a workspace for a change of its people by one of them, and checks that the
// person has a role now: a session that was read before the lock may be out of date. Errors:
// workspace_not_found, insufficient_role.
func lockFor(ctx context.Context, tx *db.Tx, workspaceID, personID string, least Role) error {
	if err := LockWorkspace(ctx, tx, workspaceID); err != nil {
		return err
	}
	role, err := roleIn(ctx, tx, workspaceID, personID)
	if err == nil && !role.Includes(least) {
		err = insufficientRole(least, role)
	}
	return err
}

// target reads the member whom a change is about. Error: member_not_found.
func target(ctx context.Context, tx *db.Tx, workspaceID, personID string) (Role, error) {
	role, err := roleIn(ctx, tx, workspaceID, personID)
	if err == nil && role == "" {
		err = fault.New(fault.MemberNotFound, "The workspace has no such member.")
	}
	return role, err
}

// keepOwner refuses to take the last owner of a workspace away. Error: last_owner.
func keepOwner(ctx context.Context, tx *db.Tx, workspaceID string, from Role) error {
	if from != Owner {
		return nil
	}
	count, err := tx.MemberCount(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count owners: %w", err)
	}
	if count.Owners < 2 {
		return fault.New(fault.LastOwner, "This is the last owner of the workspace.")
	}
	return nil
}

// SetRole gives a member of the caller's workspace another role. A person whose role gets
// smaller loses the keys that they made, because they know them, and their open invitations.
// Errors: insufficient_role for anyone but an owner, member_not_found, last_owner,
// invalid_request.
func SetRole(ctx context.Context, tx *db.Tx, who Principal, personID string, to Role) error {
	if !to.Includes(Viewer) {
		return fault.Field("role", "must be owner, member or viewer")
	}
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return err
	}
	return setRole(ctx, tx, who.WorkspaceID, personID, to)
}

// setRole is SetRole under the lock of the workspace.
func setRole(ctx context.Context, tx *db.Tx, workspaceID, personID string, to Role) error {
	from, err := target(ctx, tx, workspaceID, personID)
	if err != nil || from == to {
		return err
	}
	if err := keepOwner(ctx, tx, workspaceID, from); err != nil {
		return err
	}
	row, err := tx.MemberSetRole(ctx, query.MemberSetRoleParams{WorkspaceID: workspaceID, PersonID: personID, Role: string(to)})
	if _, err = members.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("change a role: %w", err)
	}
	if to.Includes(from) {
		return nil
	}
	return endActs(ctx, tx, workspaceID, personID)
}

// Transfer makes another member an owner of the caller's workspace and the caller a member.
// Errors: those of SetRole.
func Transfer(ctx context.Context, tx *db.Tx, who Principal, personID string) error {
	if personID == who.Credential.PersonID {
		return fault.Field("person", "is you; choose another member")
	}
	if err := SetRole(ctx, tx, who, personID, Owner); err != nil {
		return err
	}
	return setRole(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Member)
}

// Remove takes a person out of the caller's workspace, at once: their sessions there end, as
// do the keys that they made, with the tokens of programs that they let in, and the mails
// about its jobs. Owners remove anyone, and every member can leave. A person who is in no
// other workspace gets a new one. Errors: insufficient_role, member_not_found, last_owner.
func Remove(ctx context.Context, tx *db.Tx, who Principal, personID string) error {
	least := Owner
	if personID == who.Credential.PersonID {
		least = Viewer
	}
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, least); err != nil {
		return err
	}
	from, err := target(ctx, tx, who.WorkspaceID, personID)
	if err != nil {
		return err
	}
	if err := keepOwner(ctx, tx, who.WorkspaceID, from); err != nil {
		return err
	}
	if err := endActs(ctx, tx, who.WorkspaceID, personID); err != nil {
		return err
	}
	if err := remember(ctx, tx, who.WorkspaceID, personID); err != nil {
		return err
	}
	if err := notice.Forget(ctx, tx, who.WorkspaceID, personID); err != nil {
		return err
	}
	if err := part(ctx, tx, who.WorkspaceID, personID); err != nil {
		return err
	}
	return rehome(ctx, tx, who.WorkspaceID, personID)
}

// part removes the row of a member, and the sessions with it.
func part(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	if err := tx.MemberSessionsEnd(ctx, query.MemberSessionsEndParams{WorkspaceID: workspaceID, PersonID: personID}); err != nil {
		return fmt.Errorf("end the sessions of a member: %w", err)
	}
	if err := tx.MemberDelete(ctx, query.MemberDeleteParams{WorkspaceID: workspaceID, PersonID: personID}); err != nil {
		return fmt.Errorf("remove a member: %w", err)
	}
	return nil
}

// rehome has a person's next sign-in open a workspace that they are in, after they left one.
func rehome(ctx context.Context, tx *db.Tx, left, personID string) error {
	person, err := tx.PersonLock(ctx, personID)
	if err != nil {
		return fmt.Errorf("lock a person: %w", err)
	}
	if person.WorkspaceID != left {
		return nil
	}
	others, err := Memberships(ctx, tx, personID)
	if err != nil {
		return err
	}
	home := ""
	if len(others) > 0 {
		home = others[0].WorkspaceID
	} else if home, err = createWorkspace(ctx, tx, person.Email); err != nil {
		return err
	} else if _, err = join(ctx, tx, home, personID, Owner, ""); err != nil {
		return err
	}
	return setHome(ctx, tx, personID, home)
}

// setHome chooses the workspace that a person's next sign-in opens.
func setHome(ctx context.Context, tx *db.Tx, personID, workspaceID string) error {
	row, err := tx.PersonHome(ctx, query.PersonHomeParams{PersonID: personID, WorkspaceID: workspaceID})
	if _, err = people.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("choose the workspace of a sign-in: %w", err)
	}
	return nil
}

// endActs ends what a person did in a workspace that would outlast them: their open
// invitations, the domains that they claimed and the keys that they made.
func endActs(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	if err := endInvitationsBy(ctx, tx, workspaceID, personID); err != nil {
		return err
	}
	if err := releaseBy(ctx, tx, workspaceID, personID); err != nil {
		return err
	}
	return revokeMade(ctx, tx, workspaceID, personID)
}

// revokeMade revokes the keys of a workspace that a person made, and so ends the tokens of
// programs that the person let in.
func revokeMade(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	accounts, err := tx.MemberAccountKeysRevoke(ctx, query.MemberAccountKeysRevokeParams{Now: tx.Now, WorkspaceID: workspaceID, MadeBy: personID})
	if err != nil {
		return fmt.Errorf("revoke account keys of a member: %w", err)
	}
	for _, row := range accounts {
		if err := accountKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	agents, err := tx.MemberAgentKeysRevoke(ctx, query.MemberAgentKeysRevokeParams{Now: tx.Now, WorkspaceID: workspaceID, MadeBy: personID})
	if err != nil {
		return fmt.Errorf("revoke agent keys of a member: %w", err)
	}
	for _, row := range agents {
		if err := agentKeys.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// Switch ends a session and opens one of the same person in another of their workspaces, until
// the same time. The next sign-in opens that workspace, too. Errors: unauthenticated,
// workspace_not_found for one that the person is not in.
func Switch(ctx context.Context, tx *db.Tx, token, workspaceID string) (Opened, error) {
	s, err := tx.SessionGet(ctx, Hash(token))
	if db.IsNotFound(err) || (err == nil && s.ExpiresAt <= tx.Now) {
		return Opened{}, fault.New(fault.Unauthenticated, "The session has ended.").WithAction(SignInAgain)
	}
	if err != nil {
		return Opened{}, fmt.Errorf("look up session: %w", err)
	}
	if _, err := tx.PersonLock(ctx, s.PersonID); err != nil {
		return Opened{}, fmt.Errorf("lock a person: %w", err)
	}
	role, err := roleIn(ctx, tx, workspaceID, s.PersonID)
	if err == nil && role == "" {
		err = fault.New(fault.WorkspaceNotFound, "You are in no workspace %s.", workspaceID)
	}
	if err == nil {
		err = setHome(ctx, tx, s.PersonID, workspaceID)
	}
	if err != nil {
		return Opened{}, err
	}
	return open(ctx, tx, Person{s.PersonID, s.Email, workspaceID}, token, db.Time(s.ExpiresAt))
}
