package benchmark

import (
	"fmt"
	"strings"
)

// NamesMarkdown renders the tables of names for docs/internal/gpu-names.md. The tables are printed
// from the code that uses them, so the document cannot differ from it. make generate
// writes the file.
func NamesMarkdown() string {
	var b strings.Builder
	b.WriteString("# How GPUs are named\n\nPrinted from `internal/work/benchmark/names.go` by `make generate`; do not edit.\n\n" +
		"## 1. The name is folded\n\nNames that look alike are one: compatible forms of a letter (Unicode NFKC), letters of other alphabets that look like Latin ones, marks, spaces of any kind, what is not seen, hyphens of any kind; and after a digit, O is 0, and I and l are 1.\n\n" +
		"## 2. The name is rewritten\n\nFrom the first row to the last; case is ignored.\n\n| pattern | becomes | because |\n|---|---|---|\n")
	code := func(text string) string {
		if strings.TrimSpace(text) == "" {
			return "nothing"
		}
		return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
	}
	for _, r := range Rewrites() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(r.Pattern), code(r.By), r.Why)
	}
	b.WriteString("\n## 3. The vendor stands in front\n\nA name that begins with one of these words, up to a hyphen, is that vendor's; other names have the vendor `unknown` and stay as they are.\n\n| word | vendor |\n|---|---|\n")
	for _, brand := range Brands() {
		fmt.Fprintf(&b, "| %s | %s |\n", brand.Word, brand.Vendor)
	}
	b.WriteString("\n## 4. Models that are sold with several sizes of memory\n\nTheir slug gets the size that is nearest to the memory that the driver reports; none where it reports none.\n\n| slug | sizes |\n|---|---|\n")
	for _, v := range Variants() {
		sizes := make([]string, len(v.Sizes))
		for i, gb := range v.Sizes {
			sizes[i] = fmt.Sprintf("%d GB", gb)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Slug, strings.Join(sizes, ", "))
	}
	b.WriteString("\nThe slug is what is left in lower case, with hyphens for all that is no letter or digit.\n")
	return b.String()
}
