package blendfile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/test/packed"
)

// scripts/scenes/blendfile_versions.py made the file and asked Blender for the
// answers, giving the file other version numbers each time.
func TestOldSettingsAreReadAsBlenderConvertsThem(t *testing.T) {
	t.Parallel()
	plain := packed.Read(t, "testdata/versions/settings.blend")
	text, err := os.ReadFile("testdata/versions/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers []struct {
		Version    int    `json:"version"`
		Subversion int    `json:"subversion"`
		Scene      string `json:"scene"`
		Samples    int    `json:"samples"`
		Adaptive   bool   `json:"adaptive_sampling"`
		Denoise    bool   `json:"denoise"`
	}
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) == 0 {
		t.Fatalf("no answers of Blender: %v", err)
	}
	scenes := sceneAddresses(plain)
	for _, want := range answers {
		facts, err := blendfile.Inspect(bytes.NewReader(savedBy(plain, want.Version, want.Subversion, scenes[want.Scene])), blendfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := facts.Scene
		if s.Name != want.Scene || s.Samples != want.Samples || s.AdaptiveSampling != want.Adaptive || s.Denoise != want.Denoise {
			t.Errorf("%d.%d: %q has samples %d, adaptive %t, denoise %t, want %+v",
				want.Version, want.Subversion, s.Name, s.Samples, s.AdaptiveSampling, s.Denoise, want)
		}
	}
}

// The defaults before 2.77 are Cycles' own rule, which the Blender that made the
// answers cannot be asked about: it does not take its layout under those numbers.
func TestSamplesNotStoredAreThoseOfTheSavingVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]int{269: 10, 276: 10, 277: 128, 279: 128, 293: 128, 300: 128, 301: 4096, 401: 4096} {
		s := newSynth(form{version: version, bits: 64}, dna279)
		s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "r.engine": "CYCLES"})
		if got := inspectBytes(t, s.bytes()).Scene.Samples; got != want {
			t.Errorf("saved by %d: %d samples, want %d", version, got, want)
		}
	}
}

// sceneAddresses finds the scenes of a 64-bit little-endian file before 5.0.
func sceneAddresses(plain []byte) map[string]uint64 {
	all := map[string]uint64{}
	const nameAt = 40 // after five pointers of the ID
	for at := 12; at+24 <= len(plain); {
		size := int(binary.LittleEndian.Uint32(plain[at+4:]))
		if string(plain[at:at+4]) == "SC\x00\x00" {
			name, _, _ := bytes.Cut(plain[at+24+nameAt+len("SC"):], []byte{0})
			all[string(name)] = binary.LittleEndian.Uint64(plain[at+8:])
		}
		at += 24 + size
	}
	return all
}

// savedBy gives the file another version and active scene.
func savedBy(plain []byte, version, subversion int, scene uint64) []byte {
	b := bytes.Clone(plain)
	copy(b[9:12], fmt.Sprint(version))
	global := b[bytes.Index(b, []byte("GLOB"))+24:]
	const curscene = 24 // after the numbers and the screen
	binary.LittleEndian.PutUint16(global[4:], uint16(subversion))
	before := bytes.Clone(global[curscene:][:8])
	binary.LittleEndian.PutUint64(global[curscene:], scene)
	showInWindows(b, before, global[curscene:][:8])
	return b
}

// showInWindows replaces an address in the data of the window manager.
func showInWindows(plain, before, after []byte) {
	within := false
	for at := 12; at+24 <= len(plain); {
		size := int(binary.LittleEndian.Uint32(plain[at+4:]))
		if code := string(plain[at : at+4]); code != "DATA" {
			within = code == "WM\x00\x00"
		}
		if data := plain[at+24 : at+24+size]; within {
			copy(data, bytes.ReplaceAll(data, before, after))
		}
		at += 24 + size
	}
}
