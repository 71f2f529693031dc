package project

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"svc.example/internal/render/scenefiles/alias"
)

var sum = strings.Repeat("0a", 32)

func files(paths ...string) Manifest {
	m := Manifest{Main: paths[0]}
	for _, p := range paths {
		m.Files = append(m.Files, File{Path: p, SHA256: sum, SizeBytes: 1, Parts: []string{sum}})
	}
	return m
}

func TestManifestThatBreaksARuleIsRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a/", MaxPathBytes/2-1)
	for name, c := range map[string]struct {
		manifest Manifest
		refused  string // part of the error; "" = accepted
	}{
		"a lone file":                        {SingleFile(`a "b" <ü>.blend`, sum, 1), ""},
		"files in folders":                   {files("shots/a.blend", "shots/tex/b.png", "lib/a.blend"), ""},
		"a path as long as can be":           {files(deep + "aa"), ""},
		"a path that is too long":            {files(deep + "aaa"), "more than"},
		"no files":                           {Manifest{Main: "a"}, "has 1 to"},
		"a main file that is not there":      {Manifest{Main: "b", Files: files("a").Files}, "not in the project"},
		"an empty path":                      {files(""), "contains the segment"},
		"an absolute path":                   {files("/a"), "contains the segment"},
		"a folder":                           {files("a/"), "contains the segment"},
		"two slashes":                        {files("a//b"), "contains the segment"},
		"the folder itself":                  {files("./a"), "contains the segment"},
		"a way out":                          {files("a/../../b"), "contains the segment"},
		"a backslash":                        {files(`..\a`), "backslash"},
		"a NUL":                              {files("a\x00b"), "not text"},
		"a line break":                       {files("a\nb"), "not text"},
		"bytes that are not UTF-8":           {files("a\xff"), "not text"},
		"the same path twice":                {files("a", "a"), "is there twice"},
		"paths that differ by case":          {files("Ünder.png", "üNDER.PNG"), "differ only by case"},
		"a Kelvin sign and a k":              {files("\u212a", "k"), "differ only by case"},
		"folders that differ by case":        {files("Tex/a", "tex/b"), "conflict"},
		"a file that is a folder too":        {files("a", "a/b"), "conflict"},
		"a folder that is a file too":        {files("a/b", "a"), "a folder and a file"},
		"a hash that is none":                {SingleFile("a", "abc", 1), "not a SHA-256"},
		"a hash in capitals":                 {SingleFile("a", strings.ToUpper(sum), 1), "not a SHA-256"},
		"a part that is no hash":             {Manifest{Main: "a", Files: []File{{"a", sum, 1, []string{"x"}}}}, "not a SHA-256"},
		"no parts":                           {Manifest{Main: "a", Files: []File{{"a", sum, 1, nil}}}, "0 parts"},
		"a size below zero":                  {SingleFile("a", sum, -1), "-1 bytes"},
		"as many files as there may be":      {many(MaxFiles), ""},
		"one file more than there may be":    {many(MaxFiles + 1), "has 1 to"},
		"aliases":                            {named("Tex/A.PNG", "/home/bob/a.png", "../../a.png", "/c/tex/a.png"), ""},
		"an alias of no file":                {Manifest{Main: "a", Files: files("a").Files, Aliases: []Alias{{"b", "/home/b"}}}, "not in the project"},
		"an alias where a file is":           {named("tex/a.png"), "something else"},
		"an alias where a folder is":         {named("tex"), "something else"},
		"an alias below a file":              {named("tex/a.png/b"), "something else"},
		"two aliases at one place":           {named("/home/a.png", "/home/a.png"), "something else"},
		"an alias below an alias":            {named("/home/a.png", "/home/a.png/b"), "something else"},
		"an alias in the system":             {named("/usr/lib/a.so"), "no worker"},
		"an alias with a way out":            {named("/home/../usr/a.so"), "contains the segment"},
		"a relative alias with a way out":    {named("tex/../../a.png"), "contains the segment"},
		"an alias that is a root":            {named("/home"), "no worker"},
		"an alias on a network":              {named("//nas/a.png"), "contains the segment"},
		"an alias far above":                 {named(strings.Repeat("../", 17) + "a"), "no worker"},
		"an alias that is not text":          {named("/home/a\nb"), "not text"},
		"names of devices and dots are text": {files("aux.blend", "...", "..a", "CON"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.manifest.Check()
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("the check says %v, want %q", err, c.refused)
			}
		})
	}
}

// named is a project whose texture has aliases.
func named(at ...string) Manifest {
	m := files("a.blend", "tex/a.png")
	for _, a := range at {
		m.Aliases = append(m.Aliases, Alias{"tex/a.png", a})
	}
	return m
}

func TestAliasesThatBreakARuleAreLeftOut(t *testing.T) {
	t.Parallel()
	m := files("a.blend", "tex/a.png")
	whole := m.SetAliases([]alias.Alias{
		{Path: "tex/a.png", At: "/home/a.png"}, {Path: "tex/a.png", At: "tex"}, {Path: "other.png", At: "/home/b.png"},
		{Path: "tex/a.png", At: "../a.png"}, {Path: "tex/a.png", At: "/home/a\x00"},
	})
	if want := []Alias{{"tex/a.png", "/home/a.png"}, {"tex/a.png", "../a.png"}}; !whole || !reflect.DeepEqual(m.Aliases, want) {
		t.Errorf("%v %+v, want %+v", whole, m.Aliases, want)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	var all []alias.Alias
	for i := range MaxAliases + 1 {
		all = append(all, alias.Alias{Path: "tex/a.png", At: fmt.Sprintf("/home/%d.png", i)})
	}
	if whole := m.SetAliases(all); whole || len(m.Aliases) != MaxAliases {
		t.Errorf("%v, %d aliases", whole, len(m.Aliases))
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

func many(n int) Manifest {
	var paths []string
	for i := range n {
		paths = append(paths, fmt.Sprintf("tex/%d.png", i))
	}
	return files(paths...)
}

func TestManifestHasOneCanonicalForm(t *testing.T) {
	t.Parallel()
	one, err := files("b/<&>.png", "a.blend").encode()
	if err != nil {
		t.Fatal(err)
	}
	m := files("b/<&>.png", "a.blend")
	m.Files[0], m.Files[1] = m.Files[1], m.Files[0]
	two, err := m.encode()
	if err != nil || one != two {
		t.Errorf("%s\nis not\n%s\n%v", one, two, err)
	}
	want := fmt.Sprintf(`{"main":"b/<&>.png","files":[{"path":"a.blend","sha256":"%s","size_bytes":1,"parts":["%s"]},`+
		`{"path":"b/<&>.png","sha256":"%s","size_bytes":1,"parts":["%s"]}]}`, sum, sum, sum, sum)
	if one != want {
		t.Errorf("the form is\n%s, want\n%s", one, want)
	}
	if back, err := decode(one); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("it is read as %+v, %v", back, err)
	}
	m.Aliases = []Alias{{"a.blend", "B.blend"}, {"a.blend", "/c/b.blend"}}
	if text, err := m.encode(); err != nil || text != strings.TrimSuffix(want, "}")+`,"aliases":[{"path":"a.blend","at":"/c/b.blend"},{"path":"a.blend","at":"B.blend"}]}` {
		t.Errorf("with aliases the form is\n%s, %v", text, err)
	}
	for _, bad := range []string{"", "{}", `{"main":"a","files":[]}`} {
		if _, err := decode(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
