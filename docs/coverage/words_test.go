package coverage_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	span = regexp.MustCompile("`[^`\n]+`")
	// member is how members, codes, warnings, kinds, metrics and settings are written.
	member = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b`)
	// coded are the files that say which of them there are.
	coded = []string{".go", ".py", ".ts", ".js", ".mjs", ".sql", ".sh", ".yaml", ".yml", ".json", ".conf", ".tmpl", ".html", ""}
)

// foreign are words of other programs, of addresses and of examples that pages name.
var foreign = []string{
	"apparmor_restrict_unprivileged_userns", "unprivileged_userns_clone", // Linux
	"beauty_0007_2",                                     // a file
	"http_503", "non_idempotent", "proxy_next_upstream", // nginx
	"node_url", "mcp_url",
	"s_client", // openssl
}

// TestPagesNameMembersThatExist holds every word such as `frame_count` that a page has in
// backticks against the code: a member that was renamed must not live on in a page.
func TestPagesNameMembersThatExist(t *testing.T) {
	t.Parallel()
	known := wordsOfTheCode(t)
	named := map[string]bool{}
	eachPage(t, func(page, text string) {
		for _, code := range span.FindAllString(text, -1) {
			for _, word := range member.FindAllString(code, -1) {
				named[word] = true
				if !known[word] && !slices.Contains(foreign, word) {
					t.Errorf("%s names %s, which is nowhere in the code", page, word)
				}
			}
		}
	}, "README.md", "docs/*.md", "sdk/*/README.md")
	for _, word := range foreign {
		if known[word] || !named[word] {
			t.Errorf("%s need not be in the list of foreign words", word)
		}
	}
	if len(named) < 400 {
		t.Errorf("only %d words were found", len(named))
	}
}

// wordsOfTheCode are all such words in the files of the project that are no pages.
func wordsOfTheCode(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(name, ".") && name != ".." || name == "node_modules" || name == "dist"):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains(coded, filepath.Ext(name)) || name == filepath.Base(thisFile):
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 4<<20 {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range member.FindAllString(string(text), -1) {
			known[word] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

const thisFile = "words_test.go"
