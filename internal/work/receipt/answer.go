package receipt

import (
	"encoding/json"
	"errors"
	"fmt"

	"svc.example/internal/ground/strictjson"
)

// unwrap finds the envelope in a document: the document is an envelope itself, or the
// body of a receipt's answer. From an answer it also returns the plain members. It
// trusts nothing yet; the envelope's signature is checked next. Every error is an
// [ErrBadSignature].
func unwrap(document []byte) (envelope, members json.RawMessage, err error) {
	var answer struct {
		Envelope json.RawMessage `json:"envelope"`
		Receipt  json.RawMessage `json:"receipt"`
	}
	if err := json.Unmarshal(document, &answer); err != nil {
		return nil, nil, fmt.Errorf("%w: not a JSON document: %w", ErrBadSignature, err)
	}
	if answer.Envelope == nil {
		return document, nil, nil
	}
	// encoding/json takes the last of two members of one name. Another reader may take
	// the first, and would then show an envelope that was never checked.
	if err := strictjson.RefuseRepeats(document); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	if answer.Receipt == nil {
		return nil, nil, fmt.Errorf("%w: it has an envelope but no plain members", ErrBadSignature)
	}
	return answer.Envelope, answer.Receipt, nil
}

// sameMembers compares the plain members with the signed ones, so that a reader may
// trust the readable half of an answer too. It decodes strictly, because a member that
// Go ignores could mean something to another reader.
func sameMembers(members json.RawMessage, signed Receipt) error {
	var plain Receipt
	if err := strictjson.Decode(members, &plain); err != nil {
		return fmt.Errorf("%w: the plain members are not a receipt: %w", ErrBadSignature, err)
	}
	want, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	if same, err := strictjson.Same(members, want); err != nil || !same {
		return errors.Join(fmt.Errorf("%w: the plain members are not the signed ones", ErrBadSignature), err)
	}
	return nil
}
