package benchmark

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Name is a GPU's name in tables and URLs.
type Name struct {
	Slug   string // lower case, "nvidia-geforce-rtx-4090"; "" when nothing is left of the name
	Name   string // for people, "NVIDIA GeForce RTX 4090"
	Vendor string // a vendor of the table, or Unknown
}

// Rewrite is one row of the table that normalizes names, applied from first to last. Names
// that still differ afterwards are different GPUs. The order is part of the table: later
// rows see what earlier ones have written.
type Rewrite struct {
	Pattern string // regular expression, case ignored
	By      string // replacement, with $1 for what the first group matched
	Why     string // one sentence, printed in docs/internal/gpu-names.md
}

// Rewrites is the table. A changed row changes slugs, and slugs are public addresses:
// results under the old slug stay there.
func Rewrites() []Rewrite {
	return []Rewrite{
		{`\((?:r|tm|c)\)|[®™©]`, " ", "Marks of trade are no part of the name."},
		{`\((?:display|headless)\)`, " ", "Cycles says so of a GPU that a screen hangs on."},
		{`\bnvidia corporation\b`, "NVIDIA", "One way to write the vendor."},
		{`\badvanced micro devices,? inc\.?|\bATI\b`, "AMD", "One way to write the vendor."},
		{`\bintel corporation\b`, "Intel", "One way to write the vendor."},
		{`\bamd amd\b`, "AMD", "Some drivers write it twice."},
		{`\(gpu - (\d+) cores?\)`, "$1-core", "Apple's chips are sold with more or fewer cores: they stay apart."},
		{`\bwith max-q(?: design)?\b|\bmax-q design\b`, "Max-Q", "Max-Q is slower: it stays apart, under one name."},
		{`\blaptop gpu\b|\(laptop\)|\(notebook\)`, "Laptop", "Laptop models are slower: they stay apart, under one name."},
		{`\(mobile\)`, "Mobile", "So are mobile ones."},
		{`\bada generation\b`, "Ada", "The workstation cards of that generation."},
		{`\b(\d+) ?gi?b\b`, "${1}GB", "Memory in a name is part of it, written in one way."},
		{`(\d\w*(?: xtx?| gre| pro)?) (?:graphics|series)$`, "$1", "Behind a model number it says nothing."},
		{` gpu$`, "", "At the end it says nothing."},
		{`[()\[\]{}]`, " ", "What brackets hold is part of the name, they are not."},
	}
}

// Brand gives the vendor of a name that leaves the vendor out, by its first word.
type Brand struct{ Word, Vendor string }

// Brands is the table. It includes the vendors themselves. The first word decides, up to a
// hyphen and without regard to case.
func Brands() []Brand {
	return []Brand{
		{"NVIDIA", "NVIDIA"}, {"GeForce", "NVIDIA"}, {"Quadro", "NVIDIA"}, {"Tesla", "NVIDIA"}, {"TITAN", "NVIDIA"}, {"GRID", "NVIDIA"},
		{"GTX", "NVIDIA"}, {"RTX", "NVIDIA"}, {"A100", "NVIDIA"}, {"H100", "NVIDIA"}, {"H200", "NVIDIA"}, {"L40S", "NVIDIA"},
		{"AMD", "AMD"}, {"Radeon", "AMD"}, {"Instinct", "AMD"}, {"FirePro", "AMD"},
		{"Intel", "Intel"}, {"Arc", "Intel"}, {"Iris", "Intel"}, {"UHD", "Intel"},
		{"Apple", "Apple"},
	}
}

// Variant is a model that is sold with several memory sizes under one name. Its slug gets
// the size nearest to the driver's value. Without the size their results would share a
// ranking, although the larger memory can be another chip.
type Variant struct {
	Slug  string
	Sizes []int // GB
}

// Variants is the table. A model that is missing here keeps one slug for all its sizes.
func Variants() []Variant {
	return []Variant{
		{"nvidia-geforce-gtx-1060", []int{3, 6}},
		{"nvidia-geforce-rtx-2060", []int{6, 12}},
		{"nvidia-geforce-rtx-3050", []int{6, 8}},
		{"nvidia-geforce-rtx-3060", []int{8, 12}},
		{"nvidia-geforce-rtx-3080", []int{10, 12}},
		{"nvidia-geforce-rtx-3080-laptop", []int{8, 16}},
		{"nvidia-geforce-rtx-4060-ti", []int{8, 16}},
		{"nvidia-geforce-rtx-5060-ti", []int{8, 16}},
		{"amd-radeon-rx-470", []int{4, 8}},
		{"amd-radeon-rx-480", []int{4, 8}},
		{"amd-radeon-rx-570", []int{4, 8}},
		{"amd-radeon-rx-580", []int{4, 8}},
		{"amd-radeon-rx-5500-xt", []int{4, 8}},
		{"amd-radeon-rx-9060-xt", []int{8, 16}},
		{"intel-arc-a770", []int{8, 16}},
	}
}

// rewriter is a compiled row.
type rewriter struct {
	pattern *regexp.Regexp
	by      string
}

// compiled holds the patterns of Rewrites, compiled once. An invalid pattern panics at the
// first use, which every test of names is.
var compiled = sync.OnceValue(func() (all []rewriter) {
	for _, r := range Rewrites() {
		all = append(all, rewriter{regexp.MustCompile(`(?i)` + r.Pattern), r.By})
	}
	return all
})

// notInSlug matches what a slug replaces by one hyphen.
var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// NameOf normalizes a GPU's name as Cycles reports it, after Fold. memory is in bytes; nil when
// unknown. It never fails: any text gives a name, and text without Latin letters and
// digits the empty slug.
func NameOf(printed string, memory *int64) Name {
	tidy := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	text := Fold(printed)
	for _, r := range compiled() {
		text = tidy(r.pattern.ReplaceAllString(text, r.by))
	}
	n := Name{Name: text, Vendor: Unknown}
	first, _, _ := strings.Cut(text, " ")
	for _, b := range Brands() {
		// "A100-SXM4-80GB" begins with A100 too.
		if word, _, _ := strings.Cut(first, "-"); !strings.EqualFold(word, b.Word) {
			continue
		}
		n.Vendor = b.Vendor
		if strings.EqualFold(first, b.Vendor) {
			text = tidy(text[len(first):])
		}
		// The vendor is spelled in one way, and comes first, once.
		n.Name = tidy(b.Vendor + " " + text)
		break
	}
	n.Slug = slug(n.Name)
	// Without a known memory the slug stays without a size: a guess would put the result into
	// the wrong ranking.
	if i := slices.IndexFunc(Variants(), func(v Variant) bool { return v.Slug == n.Slug }); i >= 0 && memory != nil {
		size := fmt.Sprintf(" %dGB", nearest(Variants()[i].Sizes, *memory))
		n.Name += size
		n.Slug = slug(n.Name)
	}
	return n
}

// slug keeps lower-case letters and digits, and joins them with single hyphens.
func slug(name string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// nearest returns the size in GB that is closest to memory in bytes. Drivers report less
// than is sold, because a part is reserved.
func nearest(sizes []int, memory int64) int {
	off := func(size int) float64 { return math.Abs(float64(size) - float64(memory)/(1<<30)) }
	return slices.MinFunc(sizes, func(a, b int) int {
		if off(a) < off(b) {
			return -1
		}
		return 1
	})
}

// Gigabytes returns memory as it is sold: drivers report a little less.
// Rounded to whole GB, of 2^30 bytes; nil for nil.
func Gigabytes(memory *int64) *int {
	if memory == nil {
		return nil
	}
	n := int(math.Round(float64(*memory) / (1 << 30)))
	return &n
}
