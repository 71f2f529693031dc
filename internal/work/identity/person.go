package identity

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/wallet"
)

// Person is a person who signs in. WorkspaceID is the workspace that signing in opens: the one
// that the person used last. Email is in the spelling of address.
type Person struct {
	PersonID    string
	Email       string
	WorkspaceID string
}

// address returns the canonical spelling of an e-mail address, so that one address is
// one person: without spaces around it, in lower case. In theory the part before the @
// is case-sensitive, but such servers are rarer than people who type capitals. Error:
// invalid_request.
func address(email string) (string, error) {
	const longest = 254 // RFC 5321 4.5.3.1.3, without the angle brackets
	parsed, err := mail.ParseAddress(strings.TrimSpace(email))
	if err != nil || parsed.Name != "" || len(parsed.Address) > longest {
		return "", fault.Field("email", "is not an e-mail address").Wrap(err)
	}
	// The Kelvin sign becomes a k: two addresses would be one person.
	if strings.ContainsFunc(parsed.Address, func(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) <= unicode.MaxASCII }) {
		return "", fault.Field("email", "has a character that only looks like a letter")
	}
	spelling := strings.ToLower(parsed.Address)
	// Mail servers reject spellings that need quotes, and quotes could smuggle a
	// header.
	if again, err := mail.ParseAddress(spelling); err != nil || again.Address != spelling {
		return "", fault.Field("email", "is an e-mail address with a quoted name, which is not supported")
	}
	return spelling, nil
}

// CreateWorkspace makes a person with that address, and a workspace with an empty wallet that
// the person owns. If
// the address is known, it returns that person and changes nothing. Errors:
// invalid_request; unavailable when a concurrent transaction creates the same person,
// after which a retry finds it.
func CreateWorkspace(ctx context.Context, tx *db.Tx, email string) (Person, error) {
	p, _, err := findOrCreate(ctx, tx, email)
	return p, err
}

// findOrCreate is CreateWorkspace, and says whether the person is new.
func findOrCreate(ctx context.Context, tx *db.Tx, email string) (p Person, isNew bool, err error) {
	if email, err = address(email); err != nil {
		return Person{}, false, err
	}
	known, err := tx.PersonByEmail(ctx, email)
	if err == nil {
		return Person{known.PersonID, known.Email, known.WorkspaceID}, false, adopt(ctx, tx, known)
	}
	if !db.IsNotFound(err) {
		return Person{}, false, fmt.Errorf("look up person: %w", err)
	}
	p = Person{PersonID: id.New(id.Person), Email: email}
	if p.WorkspaceID, err = createWorkspace(ctx, tx, email); err != nil {
		return Person{}, false, err
	}
	person := query.Person{PersonID: p.PersonID, Email: email, WorkspaceID: p.WorkspaceID, CreatedAt: tx.Now}
	person.RowSum = people.Of(person)
	made, err := tx.PersonCreate(ctx, query.PersonCreateParams(person))
	if err != nil {
		return Person{}, false, fmt.Errorf("create person: %w", err)
	}
	// Another sign-in created the person between the look-up and the insert.
	if made == 0 {
		return Person{}, false, fault.New(fault.Unavailable, "Another sign-in with this address is in progress. Try again.")
	}
	_, err = join(ctx, tx, p.WorkspaceID, p.PersonID, Owner, "")
	return p, true, err
}

// createWorkspace makes a workspace with an empty wallet, and nobody in it.
func createWorkspace(ctx context.Context, tx *db.Tx, name string) (workspaceID string, err error) {
	row := query.Workspace{WorkspaceID: id.New(id.Workspace), Name: name, CreatedAt: tx.Now, ProofPage: 1}
	row.RowSum = workspaces.Of(row)
	if err := tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams(row)); err != nil {
		return "", fmt.Errorf("create workspace: %w", err)
	}
	return row.WorkspaceID, wallet.Open(ctx, tx, row.WorkspaceID)
}

// adopt makes a person the owner of their workspace if nobody is in it: a process of an older
// version that served during the upgrade has made both.
func adopt(ctx context.Context, tx *db.Tx, p query.Person) error {
	count, err := tx.MemberCount(ctx, p.WorkspaceID)
	if err == nil && count.People == 0 {
		_, err = join(ctx, tx, p.WorkspaceID, p.PersonID, Owner, "")
	}
	if err != nil {
		return fmt.Errorf("read the members of a workspace: %w", err)
	}
	return nil
}

// WorkspaceView is a workspace as the operator sees it.
type WorkspaceView struct {
	WorkspaceID    string    `json:"workspace_id"`
	Name           string    `json:"name"`
	CreatedAt      time.Time `json:"created_at"`
	AvailableCents int64     `json:"available_cents"`
	ReservedCents  int64     `json:"reserved_cents"`
	Jobs           int64     `json:"jobs"` // in any state
}

// Workspaces lists workspaces, the newest first, after the one before; "" starts at the
// newest. With an address it lists that person's. Error: invalid_request.
func Workspaces(ctx context.Context, tx *db.Tx, email, before string, limit int) ([]WorkspaceView, error) {
	if email != "" {
		var err error
		if email, err = address(email); err != nil {
			return nil, err
		}
	}
	if before == "" {
		before = id.Behind(id.Workspace)
	}
	rows, err := tx.Workspaces(ctx, query.WorkspacesParams{Before: before, Email: email, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	out := make([]WorkspaceView, 0, len(rows))
	for _, r := range rows {
		out = append(out, WorkspaceView{r.WorkspaceID, r.Name, db.Time(r.CreatedAt), r.AvailableCents, r.ReservedCents, r.Jobs})
	}
	return out, nil
}

// NewerWorkspaces returns the before of the page that ends where a page of Workspaces begins, and ""
// where that is the first page, or this one is.
func NewerWorkspaces(ctx context.Context, tx *db.Tx, email, before string, limit int) (string, error) {
	if before == "" {
		return "", nil
	}
	if email != "" {
		var err error
		if email, err = address(email); err != nil {
			return "", err
		}
	}
	found, err := db.OrEmpty(tx.WorkspacesNewer(ctx, query.WorkspacesNewerParams{Before: before, Email: email, Max: int64(limit)}))
	if err != nil {
		return "", fmt.Errorf("find the page of newer workspaces: %w", err)
	}
	return found, nil
}

// WorkspaceOf reads a workspace and the addresses of its people. Error:
// workspace_not_found.
func WorkspaceOf(ctx context.Context, tx *db.Tx, workspaceID string) (query.Workspace, []string, error) {
	w, err := tx.WorkspaceGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return w, nil, fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	if err != nil {
		return w, nil, fmt.Errorf("read workspace: %w", err)
	}
	people, err := tx.MembersOf(ctx, workspaceID)
	if err != nil {
		return w, nil, fmt.Errorf("list people: %w", err)
	}
	emails := make([]string, 0, len(people))
	for _, p := range people {
		emails = append(emails, p.Email)
	}
	return w, emails, nil
}
