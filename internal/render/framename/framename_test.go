package framename_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/framename"
)

func TestFramesAreNamedAsBlenderNamesThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, pattern, file string }{
		{"//render/shot_010_####", "shot_010_####", "shot_010_0007.png"},
		{"/tmp/", "####", "0007.png"},
		{"//", "####", "0007.png"},
		{"", "####", "0007.png"},
		{`C:\out\beauty_##`, "beauty_##", "beauty_07.png"},
		{"//a#b/c", "c####", "c0007.png"},
		{"//v2_##_######", "v2____######", "v2____000007.png"},
		{"//shot_####.png", "shot_####", "shot_0007.png"},
		{"//shot_####.jpg", "shot_####", "shot_0007.png"},
		{"//shot_####.beauty", "shot_####.beauty", "shot_0007.beauty.png"},
		{"//shot.", "shot.####", "shot.0007.png"},
		{"//shot_010.####", "shot_010.####", "shot_010.0007.png"},
		{"//#", "#", "7.png"},
		{"//{blend_name}_{fps}_####", "_blend_name___fps__####", "_blend_name___fps__0007.png"},
		{"//nul.####", "nul.####", "_nul.0007.png"},
		{"//lpt#.", "lpt#.", "_lpt7..png"},
		{"//..", "..####", "_.0007.png"},
		{"//-rf #", "-rf #", "_rf 7.png"},
		{"//a\x00b\u202ec####", "a_b_c####", "a_b_c0007.png"},
		{"//Aufnahme ä é", "Aufnahme ä é####", "Aufnahme ä é0007.png"},
	} {
		p := framename.Of(c.path)
		if p.String() != c.pattern || p.File(7, ".png") != c.file {
			t.Errorf("%q is %q and gives %q, want %q and %q", c.path, p, p.File(7, ".png"), c.pattern, c.file)
		}
	}
}

func TestNamesAreSafeAndDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(rapid.String(), rapid.StringMatching(`[#.a-z/\\{} -]{0,900}`)).Draw(t, "path")
		a, b := rapid.IntRange(1, 1_048_574).Draw(t, "a"), rapid.IntRange(1, 1_048_574).Draw(t, "b")
		p := framename.Of(path)
		one, other := p.File(a, ".exr"), p.File(b, ".exr")
		if (one == other) != (a == b) {
			t.Errorf("frames %d and %d are %q and %q", a, b, one, other)
		}
		if len(one) > framename.MaxBytes || strings.ContainsAny(one, "/\\:*?\"<>|\x00\n{}") || strings.ContainsAny(one[:1], ".- ") || !strings.HasSuffix(one, ".exr") {
			t.Errorf("the name is %q", one)
		}
		if again := framename.Of(p.String()); again != p {
			t.Errorf("%q is read as %q", p, again)
		}
	})
}
