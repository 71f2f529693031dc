// Command witness tries svc against github.com/transparency-dev/witness, in both
// directions.
//
//	witness serve LOG-KEY             serves their witness for a log, until standard input ends
//	witness key FILE                  makes the key of a log, and prints its public half
//	witness feed URL WITNESS-KEY FILE gives checkpoints of that log to a witness, with their client
//
// serve prints the key of the witness and its address. feed prints what the witness made of
// each checkpoint, and exits 1 when that is not what C2SP tlog-witness says.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"

	fnote "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/api"
	client "github.com/transparency-dev/witness/client/http"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "key":
		err = logKey(os.Args[2])
	case len(os.Args) == 5 && os.Args[1] == "feed":
		err = feed(os.Args[2], os.Args[3], os.Args[4])
	default:
		err = errors.New("wanted serve LOG-KEY, key FILE, or feed URL WITNESS-KEY FILE")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is their witness, for one log.
func serve(logKey string) error {
	log, err := note.NewVerifier(logKey)
	if err != nil {
		return err
	}
	private, public, err := note.GenerateKey(rand.Reader, "theirs.example.org")
	if err != nil {
		return err
	}
	signer, err := fnote.NewSignerForCosignatureV1(private)
	if err != nil {
		return err
	}
	cosigner, err := fnote.VKeyToCosignatureV1(public)
	if err != nil {
		return err
	}
	w, err := witness.New(context.Background(), witness.Opts{
		Persistence: inmemory.New(), Signers: []note.Signer{signer},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			return log, origin == log.Name(), nil
		},
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+api.HTTPAddCheckpoint, witness.NewHTTPHandler(w).AddCheckpoint)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("key %s\nlistening on http://%s\n", cosigner, listener.Addr())
	go func() { _ = http.Serve(listener, mux) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// logKey makes the key of a log of ours.
func logKey(path string) error {
	private, public, err := note.GenerateKey(rand.Reader, "others.example.org/log")
	if err != nil {
		return err
	}
	fmt.Println(public)
	return os.WriteFile(path, []byte(private), 0o600)
}

// feed gives a witness a log that grows, and then what it must refuse.
func feed(address, witnessKey, path string) error {
	private, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	log, err := note.NewSigner(string(private))
	if err != nil {
		return err
	}
	cosigner, err := fnote.NewVerifierForCosignatureV1(witnessKey)
	if err != nil {
		return err
	}
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	theirs := client.NewWitness(at, http.DefaultClient)
	honest, forked := newTree(20, ""), newTree(20, "another ")
	for _, step := range []struct {
		what     string
		tree     *tree
		old, new int64
		proves   *tree // whose proof goes along
		err      error
	}{
		{"the first checkpoint", honest, 0, 3, honest, nil},
		{"one that continues it", honest, 3, 10, honest, nil},
		{"the same again", honest, 10, 10, honest, nil},
		{"one from too long ago", honest, 3, 12, honest, witness.ErrCheckpointStale},
		{"another of the same size", forked, 10, 10, forked, witness.ErrRootMismatch},
		{"one of another log's leaves", forked, 10, 15, forked, witness.ErrInvalidProof},
		{"one with a wrong proof", honest, 10, 15, forked, witness.ErrInvalidProof},
		{"one that continues after all that", honest, 10, 20, honest, nil},
	} {
		text, proof, err := step.tree.checkpoint(log, step.old, step.new, step.proves)
		if err != nil {
			return err
		}
		line, size, err := theirs.Update(context.Background(), uint64(step.old), text, proof)
		if !errors.Is(err, step.err) {
			return fmt.Errorf("%s: %v, wanted %v", step.what, err, step.err)
		}
		if errors.Is(err, witness.ErrCheckpointStale) && size != 10 {
			return fmt.Errorf("%s: the witness says that it has signed size %d", step.what, size)
		}
		if err == nil {
			if _, err := note.Open(append(bytes.Clone(text), line...), note.VerifierList(cosigner)); err != nil {
				return fmt.Errorf("%s: the co-signature %q: %w", step.what, line, err)
			}
		}
		fmt.Printf("%s: %v\n", step.what, err)
	}
	return nil
}

// tree is a log of records.
type tree struct{ hashes []tlog.Hash }

func newTree(size int64, prefix string) *tree {
	t := &tree{}
	for i := range size {
		hashes, err := tlog.StoredHashes(i, fmt.Appendf(nil, "%srecord %d", prefix, i), t)
		if err != nil {
			panic(err) // a programming error
		}
		t.hashes = append(t.hashes, hashes...)
	}
	return t
}

// ReadHashes implements tlog.HashReader.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = t.hashes[index]
	}
	return found, nil
}

// checkpoint is the signed checkpoint of a size, and the proof that proves has for it.
func (t *tree) checkpoint(log note.Signer, old, size int64, proves *tree) (text []byte, proof [][]byte, err error) {
	root, err := tlog.TreeHash(size, t)
	if err != nil {
		return nil, nil, err
	}
	text, err = note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", log.Name(), size, root)}, log)
	if err != nil || old == 0 || old == size {
		return text, nil, err
	}
	steps, err := tlog.ProveTree(size, old, proves)
	for _, step := range steps {
		proof = append(proof, step[:])
	}
	return text, proof, err
}
