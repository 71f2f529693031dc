package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
)

// Actor is who did something in a workspace (decisions 32): started a job, added credit or made
// a key. Its JSON has the person's address with all but the first character of its local part
// left out; pages show the whole address, which members see anyway.
type Actor struct {
	_        struct{}  `additionalProperties:"true"`
	Kind     ActorKind `json:"kind" enum:"member,key,operator,service,unknown" doc:"unknown: nobody is recorded, because it was made before the service recorded it, or because the person was erased. service: it happens automatically."`
	PersonID *string   `json:"person_id" doc:"The person; for a key, the one who made it. Null where it is not known."`
	Email    *string   `json:"email" doc:"Their address, shortened. Null where it is not known."`
	KeyID    *string   `json:"key_id" doc:"The key, where kind is key; otherwise null."`
	KeyName  *string   `json:"key_name" doc:"Its name."`
	// Address is the person's address; "" for none.
	Address string `json:"-"`
}

// ActorKind is what acted.
type ActorKind string

// Kinds of actors.
const (
	MemberActor   ActorKind = "member"
	KeyActor      ActorKind = "key"
	OperatorActor ActorKind = "operator"
	ServiceActor  ActorKind = "service"
	UnknownActor  ActorKind = "unknown"
)

// ActorOf is the actor of a person and a key, as rows have them; "" for none. A person without
// an address is gone and not named.
func ActorOf(personID, address, keyID, keyName string) *Actor {
	a := &Actor{Kind: UnknownActor, KeyID: db.Optional(keyID), KeyName: db.Optional(keyName)}
	if address != "" {
		a.Kind, a.PersonID, a.Email, a.Address = MemberActor, db.Optional(personID), new(shortened(address)), address
	}
	if keyID != "" {
		a.Kind = KeyActor
	}
	return a
}

// makerOf is who made a key. A key without a person is an operator's; or, when it has ended, that
// of a person who was erased.
func makerOf(personID, address string, revokedAt int64) *Actor {
	if personID == "" && revokedAt == 0 {
		return &Actor{Kind: OperatorActor}
	}
	return ActorOf(personID, address, "", "")
}

// shortened leaves out most of the local part of an address.
func shortened(address string) string {
	_, n := utf8.DecodeRuneInString(address)
	return address[:n] + "…" + address[strings.LastIndexByte(address, '@'):]
}

// Text names the actor on pages and in CSV.
func (a *Actor) Text() string {
	if a == nil {
		return notRecorded
	}
	switch a.Kind {
	case OperatorActor:
		return "operator"
	case ServiceActor:
		return "automatic"
	case KeyActor:
		text := "key"
		if a.KeyName != nil {
			text += " " + *a.KeyName
		}
		if a.Address != "" {
			text += " of " + a.Address
		}
		return text
	case MemberActor:
		return a.Address
	case UnknownActor:
	}
	return notRecorded
}

// notRecorded says that nobody is recorded.
const notRecorded = "not recorded"

// PeopleNamed returns the ids of the people that a text names to a workspace: the text is a
// person's id, an address, or what is before the @ of a member's address, in any case. After
// leaving, a person is named by the first two alone. The ids may be of people without a job there.
func PeopleNamed(ctx context.Context, tx *db.Tx, workspaceID, text string) (ids []string, err error) {
	if id.Valid(id.Person, text) {
		return []string{text}, nil
	}
	if email, err := address(text); err == nil {
		found, err := tx.PersonByEmail(ctx, email)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("find a person by address: %w", err)
		}
		return []string{found.PersonID}, nil
	}
	members, err := Members(ctx, tx, workspaceID)
	for _, m := range members {
		if at := strings.LastIndexByte(m.Email, '@'); at >= 0 && m.Email[:at] == strings.ToLower(text) {
			ids = append(ids, m.PersonID)
		}
	}
	return ids, err
}
