package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"svc.example/internal/ground/signingkey"
)

// commandTime bounds one signature. Checkpoints, and short receipts that are signed again, hold the
// log meanwhile.
const commandTime = 10 * time.Second

// Command is a signingkey.Signer that runs a program for each signature, such as one that asks a
// hardware module or a service for keys. The program gets the data on standard input and
// writes only the 64 bytes of the signature to standard output.
type Command struct {
	Words []string // the program and its arguments
}

// Sign runs the program. The error has what it wrote to standard error.
func (c Command) Sign(data []byte) ([]byte, error) {
	ctx, done := context.WithTimeout(context.Background(), commandTime)
	defer done()
	program := exec.CommandContext(ctx, c.Words[0], c.Words[1:]...)
	var said bytes.Buffer
	program.Stdin, program.Stderr = bytes.NewReader(data), &said
	program.WaitDelay = time.Second
	signature, err := program.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s did not sign within %s", c.Words[0], commandTime)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w: %.500s", c.Words[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return signature, nil
}

// probe is what a program signs to show that it has the key. It begins like nothing that a
// service signs.
const probe = "is the key of this service at hand?\n"

// External returns the ring of one key that a signer signs with, after it has shown that it
// has the key. Like a ring of Given, it finds and makes no other.
func External(public signingkey.Public, signer signingkey.Signer) (*Ring, error) {
	key := signingkey.External(public, signer)
	if _, err := key.SignRaw([]byte(probe)); err != nil {
		return nil, errors.Join(errors.New("the signing key cannot be used"), err)
	}
	return Given(key), nil
}
