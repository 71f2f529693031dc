package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

func TestVerifyDistinguishesAnHonestJobFromAChangedOne(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(2)
	if err != nil {
		t.Fatal(err)
	}
	key, err := receipt.NewKey(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := receipt.Sign(job.Receipt, key)
	if err != nil {
		t.Fatal(err)
	}
	members, err := json.Marshal(job.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	told := &client.Receipt{Members: members, Envelope: envelope}
	keys := []client.SigningKey{{PublicKeyPEM: string(public)}}
	size := int64(len(job.ZIP))
	checks, err := client.Verify(told, keys, bytes.NewReader(job.ZIP), size)
	if err != nil || len(checks) < 7 || checks[0].Name != "signature" || checks[0].Status != "ok" {
		t.Errorf("an honest job: %v, error %v", checks, err)
	}
	if _, err := client.Verify(told, keys, nil, 0); err != nil {
		t.Errorf("without the ZIP: %v", err)
	}
	job.ZIP[50] ^= 1
	if _, err := client.Verify(told, keys, bytes.NewReader(job.ZIP), size); !errors.Is(err, client.ErrBadArtifact) {
		t.Errorf("a changed ZIP: %v", err)
	}
	told.Members = bytes.Replace(members, []byte(`"charged_cents":2`), []byte(`"charged_cents":1`), 1)
	if _, err := client.Verify(told, keys, nil, 0); !errors.Is(err, client.ErrBadSignature) {
		t.Errorf("changed members: %v", err)
	}
	if _, err := client.Verify(&client.Receipt{}, keys, nil, 0); !errors.Is(err, client.ErrBadSignature) {
		t.Errorf("no receipt: %v", err)
	}
}
