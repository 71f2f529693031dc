package receipt_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

// endedAt is the history of a service whose key "a" ended at a size of the log, and whose
// key "b" signs now.
func endedAt(t *testing.T, size int64, reason string) receipt.History {
	return receipt.History{{Key: testKey(t, "b").Public()}, {Key: testKey(t, "a").Public(), End: &receipt.End{Reason: reason, LogSize: size}}}
}

// What a thief of a key that has ended can do, and what stays good (docs/keys.md).
func TestAThiefOfAnEndedKeyCannotPassAReceiptOff(t *testing.T) {
	t.Parallel()
	const end = 5
	prove := func(l logged, index int64, key string) *receipt.Inclusion {
		t.Helper()
		p, err := receipttest.Prove(l.leaves, index, testKey(t, key))
		if err != nil {
			t.Fatal(err)
		}
		return &p
	}
	before, after, alone := inLog(t, 2, 9), inLog(t, 7, 9), inLog(t, 2, 4)
	for name, c := range map[string]struct {
		reason string
		is     logged
		proof  *receipt.Inclusion
		fails  error
		words  string
	}{
		"a receipt before the end, proven by the key of today":               {"compromised", before, prove(before, 2, "b"), nil, "after leaf 2"},
		"the same for a key that was not stolen":                             {"superseded", before, prove(before, 2, "b"), nil, "after leaf 2"},
		"a proof that was saved before the end of a key that was not stolen": {"superseded", alone, prove(alone, 2, "a"), nil, "after leaf 2"},
		"a saved proof, or a log of the thief's own, by a stolen key":        {"compromised", alone, prove(alone, 2, "a"), receipt.ErrNotInLog, "compromised: download the proof again"},
		"a log of the thief's own, longer than the true one at the end":      {"superseded", before, prove(before, 2, "a"), receipt.ErrNotInLog, "which ended at 5"},
		"a right signature after the end, in the true log":                   {"compromised", after, prove(after, 7, "b"), receipt.ErrBadSignature, "signed after the end"},
		"a right signature after the end of a key that was not stolen":       {"superseded", after, prove(after, 7, "b"), receipt.ErrBadSignature, "signed after the end"},
		"a right signature in no log":                                        {"compromised", before, nil, receipt.ErrBadSignature, "without a proof"},
	} {
		keys := endedAt(t, end, c.reason)
		report := receipt.Verify(c.is.envelope, keys.Keys(), nil)
		report.InLog(c.proof, keys.Keys(), nil)
		report.InTime(keys, c.proof)
		last := report.Checks[len(report.Checks)-1]
		if err := report.Err(); !errors.Is(err, c.fails) || last.Name != "key" || !strings.Contains(last.Text, c.words) {
			t.Errorf("%s: %v, %+v", name, err, last)
		}
	}
	forged := inLog(t, 2, 9)
	forged.leaves[2][0] ^= 1 // the log has another receipt there
	report := receipt.Verify(forged.envelope, forged.keys, nil)
	p := prove(forged, 2, "b")
	report.InLog(p, endedAt(t, end, "compromised").Keys(), nil)
	report.InTime(endedAt(t, end, "compromised"), p)
	if last := report.Checks[len(report.Checks)-1]; last.Status != receipt.Failed || !strings.Contains(last.Text, "not proven to be in it") {
		t.Errorf("a receipt at the place of another: %+v", last)
	}
}

func TestWhetherAKeyHadEndedIsCheckedOnlyWithAHistory(t *testing.T) {
	t.Parallel()
	l := inLog(t, 2, 9)
	report := l.verify(nil)
	report.InTime(nil, &l.proof)
	if not := report.NotChecked(); report.Err() != nil || strings.Join(not, " ") != "artifact key" {
		t.Errorf("%v, not checked %v", report.Err(), not)
	}
	report = l.verify(nil)
	report.InTime(receipt.History{{Key: testKey(t, "c").Public()}}, &l.proof)
	if err := report.Err(); !errors.Is(err, receipt.ErrBadSignature) || !strings.Contains(err.Error(), "not in the history") {
		t.Errorf("a key that is not in the history: %v", err)
	}
}

func TestAHistoryThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	pem := func(letter string) string {
		text, err := testKey(t, letter).Public().PEM()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sealed := func(size int64, letter string) string {
		return string(checkpoint(t, receipt.Checkpoint{Origin: origin, Size: size}, letter))
	}
	type key map[string]any
	good := key{"key_id": testKey(t, "b").Public().ID(), "public_key_pem": pem("b")}
	old := func(changes key) key {
		k := key{"key_id": testKey(t, "a").Public().ID(), "public_key_pem": pem("a"), "end_reason": "compromised", "end_log_size": 5, "end_checkpoint": sealed(5, "b")}
		for name, value := range changes {
			k[name] = value
		}
		return k
	}
	for name, c := range map[string]struct {
		keys  []key
		words string // "" when it is good
	}{
		"an end by the key of today":      {[]key{good, old(nil)}, ""},
		"a service that keeps no ends":    {[]key{good}, ""},
		"a key under another's id":        {[]key{good, old(key{"public_key_pem": pem("c")})}, "its id is"},
		"a key twice":                     {[]key{good, good}, "stands twice"},
		"no key":                          {nil, "it has none"},
		"another reason":                  {[]key{good, old(key{"end_reason": "bored"})}, `the reason "bored"`},
		"an end before the log":           {[]key{good, old(key{"end_log_size": -1})}, "at -1 leaves"},
		"a checkpoint of another size":    {[]key{good, old(key{"end_checkpoint": sealed(6, "b")})}, "its checkpoint at 6"},
		"a checkpoint by the stolen key":  {[]key{good, old(key{"end_checkpoint": sealed(5, "a")})}, "which is compromised"},
		"a checkpoint by a stranger":      {[]key{good, old(key{"end_checkpoint": sealed(5, "c")})}, "not signed by a known key"},
		"a checkpoint of a key's own end": {[]key{good, old(key{"end_reason": "superseded", "end_checkpoint": sealed(5, "a")})}, ""},
		"a checkpoint after its own end":  {[]key{good, old(key{"end_reason": "superseded", "end_checkpoint": sealed(6, "a")})}, "which ended at 5"},
	} {
		document, err := json.Marshal(map[string]any{"ok": true, "keys": c.keys})
		if err != nil {
			t.Fatal(err)
		}
		history, err := receipt.ParseHistory(document)
		if (c.words == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(history.Keys()) != len(c.keys) {
			t.Errorf("%s: %d keys", name, len(history))
		}
	}
}
