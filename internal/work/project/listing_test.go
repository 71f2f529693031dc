package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
)

// listing is a project of files of one byte; the first is the main one.
func listing(paths ...string) Listing {
	l := Listing{Main: paths[0]}
	for _, p := range paths {
		l.Files = append(l.Files, Listed{Path: p, SizeBytes: 1, Parts: []string{sum}})
	}
	return l
}

const most = 1 << 20

func TestListingThatBreaksARuleIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	parts := func(n int) (all []string) {
		for range n {
			all = append(all, sum)
		}
		return all
	}
	path, body, large := fault.InvalidProjectPath, fault.InvalidRequest, fault.UploadTooLarge
	for name, c := range map[string]struct {
		listing Listing
		refused fault.Code
		names   string // in the message or the detail
	}{
		"a lone file":                         {listing("a.blend"), "", ""},
		"files in folders":                    {listing("shots/a.blend", "tex/b.png", "lib/a.blend"), "", ""},
		"spaces, quotes and other scripts":    {listing(`-o "x" 'y' $(z).blend`, "木目.png", " a"), "", ""},
		"names of devices of Windows":         {listing("CON", "aux.blend", "tex/NUL.png", "com1"), "", ""}, // workers run Linux
		"dots that are names":                 {listing("..a", "...", "a..", "b."), "", ""},
		"a colon":                             {listing("C:/a.blend", "a:b"), "", ""}, // a folder of that name
		"a name as long as can be":            {listing(strings.Repeat("n", 255)), "", ""},
		"a name that is too long":             {listing(strings.Repeat("n", 256)), path, "255 bytes"},
		"a name of letters that are too long": {listing(strings.Repeat("木", 86)), path, "255 bytes"},
		"a path as long as can be":            {listing(strings.Repeat("a/", 511) + "aa"), "", ""},
		"a path that is too long":             {listing(strings.Repeat("a/", 511) + "aaa"), path, "1024 bytes"},
		"an empty path":                       {listing(""), path, ""},
		"an absolute path":                    {listing("/etc/passwd"), path, "/etc/passwd"},
		"two slashes in front":                {listing("//a"), path, "//a"},
		"a folder":                            {listing("a/"), path, "a/"},
		"two slashes":                         {listing("a//b"), path, "a//b"},
		"the folder itself":                   {listing("."), path, "."},
		"the folder itself in front":          {listing("./a"), path, "./a"},
		"the folder itself within":            {listing("a/./b"), path, "a/./b"},
		"a way up":                            {listing("../a"), path, "../a"},
		"a way up and down":                   {listing("a/../b"), path, "a/../b"},
		"a way out from within":               {listing("a/../../b"), path, "a/../../b"},
		"a way up at the end":                 {listing("a/.."), path, "a/.."},
		"a backslash":                         {listing(`tex\a.png`), path, "backslash"},
		"a way up with backslashes":           {listing(`..\..\a`), path, "backslash"},
		"a drive":                             {listing(`C:\a`), path, "backslash"},
		"a computer":                          {listing(`\\nas\a`), path, "backslash"},
		"a NUL":                               {listing("a\x00.png"), path, "not text"},
		"a line break":                        {listing("a\n"), path, "not text"},
		"an escape":                           {listing("a\x1b[2J"), path, "not text"},
		"a control character of Unicode":      {listing("a\u0085"), path, "not text"},
		"bytes that are not UTF-8":            {listing("a\xff"), path, "not text"},
		"half of a pair of surrogates":        {listing("a\xed\xa0\x80"), path, "not text"},
		"letters taken apart":                 {listing("e\u0301.png"), path, "NFC"},
		"decomposed next to composed letters": {listing("\u00e9.png", "e\u0301.png"), path, "NFC"},
		"a letter that is never composed":     {listing("\u212b.png"), path, "NFC"}, // the sign of angstrom
		"one path twice":                      {listing("a", "a"), path, "is there twice"},
		"paths that differ by case":           {listing("Tex.png", "tex.png"), path, "differ only by case"},
		"paths that differ by case elsewhere": {listing("ÜNDER", "ünder"), path, "differ only by case"},
		"folders that differ by case":         {listing("Tex/a", "tex/b"), path, "conflict"},
		"a file that is a folder":             {listing("a", "a/b"), path, "conflict"},
		"a folder that is a file":             {listing("a/b", "a"), path, "a folder and a file"},
		"a file that is a folder in capitals": {listing("a", "A/b"), path, "conflict"},
		"no files":                            {Listing{Main: "a"}, body, "body.files"},
		"as many files as there may be":       {listing(number(MaxFiles)...), "", ""},
		"one file too many":                   {listing(number(MaxFiles + 1)...), body, "body.files"},
		"a main file that is not there":       {Listing{"b", listing("a").Files}, body, "body.main"},
		"a main file in other case":           {Listing{"A", listing("a").Files}, body, "body.main"},
		"no main file":                        {Listing{"", listing("a").Files}, body, "body.main"},
		"a hash that is none":                 {Listing{"a", []Listed{{"a", 1, []string{"abc"}}}}, body, "body.files[0].parts"},
		"a hash in capitals":                  {Listing{"a", []Listed{{"a", 1, []string{strings.ToUpper(sum)}}}}, body, "body.files[0].parts"},
		"a hash with a line after it":         {Listing{"a", []Listed{{"a", 1, []string{sum + "\n"}}}}, body, "body.files[0].parts"},
		"a path for a hash":                   {Listing{"a", []Listed{{"a", 1, []string{"../../" + sum[6:]}}}}, body, "body.files[0].parts"},
		"a size below zero":                   {Listing{"a", []Listed{{"a", -1, []string{sum}}}}, body, "body.files[0].size_bytes"},
		"bytes without parts":                 {Listing{"a", []Listed{{"a", 1, nil}}}, body, "body.files[0].size_bytes"},
		"parts without bytes":                 {Listing{"a", []Listed{{"a", 0, []string{sum}}}}, body, "body.files[0].size_bytes"},
		"more parts than bytes":               {Listing{"a", []Listed{{"a", 1, parts(2)}}}, body, "body.files[0].size_bytes"},
		"an empty file":                       {Listing{"a", []Listed{{"a", 1, parts(1)}, {"b", 0, nil}}}, "", ""},
		"as many parts as there may be":       {Listing{"a", []Listed{{"a", most, parts(MaxParts)}}}, "", ""},
		"one part too many":                   {Listing{"a", []Listed{{"a", most, parts(MaxParts + 1)}}}, body, "body.files"},
		"as many bytes as there may be":       {Listing{"a", []Listed{{"a", most - 1, parts(1)}, {"b", 1, parts(1)}}}, "", ""},
		"a byte too many":                     {Listing{"a", []Listed{{"a", most, parts(1)}, {"b", 1, parts(1)}}}, large, ""},
		"a size that no disk has":             {Listing{"a", []Listed{{"a", 1<<63 - 1, parts(1)}, {"b", 1<<63 - 1, parts(1)}}}, large, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.listing.Check(most)
			refused, _ := errors.AsType[*fault.Error](err)
			if c.refused == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if refused == nil || refused.Code != c.refused || !strings.Contains(fmt.Sprint(refused, refused.Detail), c.names) {
				t.Errorf("the check says %v, want %s naming %q", err, c.refused, c.names)
			}
		})
	}
}

func number(n int) (paths []string) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("tex/%d.png", i))
	}
	return paths
}

func TestAFileHasTheBytesOfItsParts(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("0b", 32)
	stored := map[string]Content{sum: {SizeBytes: 3}, other: {SizeBytes: 4}}
	l := Listing{"a", []Listed{{"a", 10, []string{sum, other, sum}}, {"b", 4, []string{other}}, {"c", 0, nil}}}
	m, err := l.Manifest(stored, func(File) (string, error) { return strings.Repeat("c", 64), nil })
	if err != nil || m.Check() != nil {
		t.Fatal(err, m.Check())
	}
	for i, want := range []string{strings.Repeat("c", 64), other, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"} {
		if m.Files[i].SHA256 != want {
			t.Errorf("%s is %s", m.Files[i].Path, m.Files[i].SHA256)
		}
	}
	l.Files[1].SizeBytes = 5
	if _, err := l.Manifest(stored, nil); !fault.Is(err, fault.InvalidRequest) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("another size: %v", err)
	}
}

// FuzzListing compares what is accepted with the rules in another form.
func FuzzListing(f *testing.F) {
	for _, l := range []Listing{listing("shots/a.blend", "tex/b.png"), listing("../a"), listing("é", "e\u0301"), listing("A", "a")} {
		text, err := json.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var l Listing
		if json.Unmarshal(text, &l) != nil || l.Check(most) != nil {
			return
		}
		seen, size := map[string]bool{}, int64(0)
		for _, file := range l.Files {
			folded := strings.ToLower(norm.NFC.String(file.Path))
			if seen[folded] || !filepath.IsLocal(file.Path) || filepath.Clean(file.Path) != file.Path || strings.ContainsAny(file.Path, "\\\x00\n") || len(file.Path) > 1024 {
				t.Errorf("%q is accepted", file.Path)
			}
			seen[folded] = true
			size += file.SizeBytes
		}
		if size > most || !slices.ContainsFunc(l.Files, func(f Listed) bool { return f.Path == l.Main }) {
			t.Errorf("%d bytes, main %q", size, l.Main)
		}
		m, err := l.Manifest(map[string]Content{}, func(File) (string, error) { return sum, nil })
		if err == nil && m.Check() != nil {
			t.Errorf("the listing is accepted, and its manifest is not: %v", m.Check())
		}
	})
}

// A small request must not ask for gigabytes of hashing.
func TestPartsAreHashedOnceForEachFileTheyMake(t *testing.T) {
	t.Parallel()
	large, small := strings.Repeat("a", 64), strings.Repeat("b", 64)
	stored := map[string]Content{large: {SHA256: large, SizeBytes: contract.MaxPartBytes}, small: {SHA256: small, SizeBytes: 1}}
	file := func(path string, parts ...string) Listed {
		f := Listed{Path: path, Parts: parts}
		for _, sum := range parts {
			f.SizeBytes += stored[sum].SizeBytes
		}
		return f
	}
	hashed := 0
	manifest := func(files ...Listed) error {
		hashed = 0
		_, err := Listing{Main: files[0].Path, Files: files}.Manifest(stored, func(File) (string, error) {
			hashed++
			return strings.Repeat("c", 64), nil
		})
		return err
	}
	if err := manifest(file("a", large, small), file("b", large, small), file("c", small, large), file("d", large)); err != nil || hashed != 2 {
		t.Errorf("%d files were hashed, %v", hashed, err)
	}
	if err := manifest(file("a", slices.Repeat([]string{large}, 254)...)); !fault.Is(err, fault.InvalidRequest) || hashed != 0 {
		t.Errorf("8 GiB of one part: %v, %d files were hashed", err, hashed)
	}
	var spread []Listed
	for n := range 120 {
		spread = append(spread, file(fmt.Sprint(n), append(slices.Repeat([]string{small}, n), large, small)...))
	}
	if err := manifest(spread...); !fault.Is(err, fault.InvalidRequest) || hashed != 0 {
		t.Errorf("one part in 120 files that differ: %v, %d files were hashed", err, hashed)
	}
	if err := manifest(file("a", slices.Repeat([]string{large}, 8)...)); err != nil {
		t.Errorf("some zeros: %v", err)
	}
}
