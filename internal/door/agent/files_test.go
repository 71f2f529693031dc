package agent_test

import (
	"bytes"
	"testing"

	"svc.example/internal/test/apptest"
)

// changed replaces bytes by as many others.
func changed(t *testing.T, file []byte, from, to string) []byte {
	t.Helper()
	if len(from) != len(to) || !bytes.Contains(file, []byte(from)) {
		t.Fatalf("%q cannot become %q", from, to)
	}
	return bytes.ReplaceAll(file, []byte(from), []byte(to))
}

// eevee is the demo scene with another engine than Cycles.
func eevee(t *testing.T) []byte {
	t.Helper()
	return changed(t, apptest.PlainScene(t), "CYCLES\x00", "EEVEE\x00\x00")
}

// named is the demo scene with another name, of at most 63 bytes.
func named(t *testing.T, name string) []byte {
	t.Helper()
	file := apptest.PlainScene(t)
	at := bytes.Index(file, []byte("SCDemo\x00"))
	if at < 0 || len(name) > 63 {
		t.Fatalf("the scene cannot be called %q", name)
	}
	copy(file[at+2:at+66], name+string(make([]byte, 64-len(name))))
	return file
}
