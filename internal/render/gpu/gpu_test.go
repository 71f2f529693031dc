package gpu_test

import (
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/render/gpu"
	"svc.example/internal/test/script"
)

// machine is one with the rows that nvidia-smi prints and the files that /sys has. The program
// is a script, since what is asked of it matters: it prints nothing for other questions, and
// of --id only the rows that are named.
func machine(t *testing.T, rows string, files map[string]string) gpu.Machine {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rows", rows)
	for name, content := range files {
		write(filepath.Join("sys", name), content)
	}
	smi := script.Write(t, filepath.Join(dir, "nvidia-smi"), `case "$3" in
--id=*) grep -F "${3#--id=}" ;;
*) cat ;;
esac <"$(dirname "$0")/rows" | case "$1 $2" in
"--query-gpu=index,uuid,name,pci.bus_id --format=csv,noheader,nounits") cut -d , -f 1-4 ;;
"--query-gpu=memory.free --format=csv,noheader,nounits") cut -d , -f 5 ;;
"--query-gpu=compute_cap --format=csv,noheader,nounits") cut -d , -f 6 ;;
"--query-gpu=utilization.gpu --format=csv,noheader,nounits") cut -d , -f 7 ;;
*) echo "unknown question: $*" >&2; exit 2 ;;
esac
`)
	return gpu.Machine{SMI: smi, Sys: filepath.Join(dir, "sys")}
}

// Rows in the form of nvidia-smi 535 to 580, and /sys of a machine with two sockets.
const (
	fourCards = `0, GPU-3a1f9f0e-52c6-9f1d-8f9e-2c5f1c5d0a01, NVIDIA RTX A6000, 00000000:01:00.0, 48105, 8.6, 3
1, GPU-7be1a4c2-0f2b-1d6e-5a77-41c0f3b0aa02, NVIDIA RTX A6000, 00000000:3B:00.0, 512, 8.6, 97
2, GPU-c90d8a77-93d1-44c1-b6a5-0a9d5e7faa03, NVIDIA RTX A6000, 00000000:81:00.0, 48105, 8.6, 3
3, GPU-e1f27b10-6b2e-48a7-9d52-6d3f8c1faa04, NVIDIA L4, 00010000:C1:00.0, 23034, 8.9, 0
`
	first, second = "GPU-3a1f9f0e-52c6-9f1d-8f9e-2c5f1c5d0a01", "GPU-7be1a4c2-0f2b-1d6e-5a77-41c0f3b0aa02"
)

func twoSockets() map[string]string {
	return map[string]string{
		"bus/pci/devices/0000:01:00.0/numa_node": "0\n", "bus/pci/devices/0000:01:00.0/local_cpulist": "0-7,16-23\n",
		"bus/pci/devices/0000:3b:00.0/numa_node": "0\n", "bus/pci/devices/0000:3b:00.0/local_cpulist": "0-7,16-23\n",
		"bus/pci/devices/0000:81:00.0/numa_node": "1\n", "bus/pci/devices/0000:81:00.0/local_cpulist": "8-15,24-31\n",
		"bus/pci/devices/10000:c1:00.0/numa_node": "-1\n", "bus/pci/devices/10000:c1:00.0/local_cpulist": "0-31\n",
	}
}

func TestCardsKnowWhatIsNearThem(t *testing.T) {
	t.Parallel()
	cards, err := machine(t, fourCards, twoSockets()).Cards(t.Context(), "")
	if err != nil || len(cards) != 4 {
		t.Fatalf("%d cards, %v", len(cards), err)
	}
	if c := cards[1]; c.Index != 1 || c.UUID != second || c.Name != "NVIDIA RTX A6000" || c.PCI != "0000:3b:00.0" || c.Node != 0 || !slices.Equal(c.CPUs, append(upTo(0, 7), upTo(16, 23)...)) {
		t.Errorf("%+v", c)
	}
	if c := cards[2]; c.Node != 1 || !slices.Equal(c.CPUs, append(upTo(8, 15), upTo(24, 31)...)) {
		t.Errorf("%+v", c)
	}
	if c := cards[3]; c.PCI != "10000:c1:00.0" || c.Node != gpu.Unknown || c.CPUs != nil {
		t.Errorf("a card with an unknown node: %+v", c)
	}
	one, err := machine(t, fourCards, nil).Cards(t.Context(), first)
	if err != nil || len(one) != 1 || one[0].UUID != first || one[0].Node != gpu.Unknown {
		t.Errorf("of one that is shown, on a machine without /sys: %+v, %v", one, err)
	}
}

func TestWhatIsNoListOfCardsIsAnError(t *testing.T) {
	t.Parallel()
	for _, rows := range []string{
		"", "No devices were found\n", "x, GPU-1, NVIDIA L4, 00000000:01:00.0, 1\n", "0, MIG-1, NVIDIA L4, 00000000:01:00.0, 1\n",
		"0, GPU-1, NVIDIA L4, [N/A], 1\n", "0, GPU-1, NVIDIA L4, 0000:../../../etc, 1\n", "0, GPU-1\n",
	} {
		if cards, err := machine(t, rows, nil).Cards(t.Context(), ""); err == nil {
			t.Errorf("%q gives %+v", rows, cards)
		}
	}
	if _, err := (gpu.Machine{SMI: filepath.Join(t.TempDir(), "nvidia-smi")}).Cards(t.Context(), ""); err == nil {
		t.Error("there are cards without nvidia-smi")
	}
	for _, list := range []string{"", "a-b\n", "3-1\n", "-1\n", "99999999\n"} {
		files := twoSockets()
		files["bus/pci/devices/0000:01:00.0/local_cpulist"] = list
		if cards, err := machine(t, fourCards, files).Cards(t.Context(), first); err != nil || cards[0].Node != gpu.Unknown {
			t.Errorf("processors %q: %+v, %v", list, cards, err)
		}
	}
}

func TestFullestCardCounts(t *testing.T) {
	t.Parallel()
	m := machine(t, fourCards, nil)
	if got, err := m.Free(t.Context(), ""); err != nil || got != 512<<20 {
		t.Errorf("of all %d, %v", got, err)
	}
	vram := map[string]string{
		"class/drm/card0/device/mem_info_vram_total": "17163091968\n", "class/drm/card0/device/mem_info_vram_used": "1000000000\n",
		"class/drm/card1/device/mem_info_vram_total": "8589934592\n", "class/drm/card1/device/mem_info_vram_used": "589934592\n",
	}
	amd := machine(t, fourCards, vram)
	if got, err := amd.Free(t.Context(), ""); err != nil || got != 512<<20 {
		t.Errorf("next to an AMD's, %d, %v", got, err)
	}
	amd.SMI = filepath.Join(t.TempDir(), "nvidia-smi")
	if got, err := amd.Free(t.Context(), ""); err != nil || got != 8000000000 {
		t.Errorf("of AMD's %d, %v", got, err)
	}
	for _, rows := range []string{"", "0, GPU-1, NVIDIA L4, 00000000:01:00.0, [N/A]\n"} {
		if got, err := machine(t, rows, nil).Free(t.Context(), ""); err == nil {
			t.Errorf("%q gives %d", rows, got)
		}
	}
}

func TestBusiestCardCounts(t *testing.T) {
	t.Parallel()
	m := machine(t, fourCards, map[string]string{"class/drm/card0/device/gpu_busy_percent": "12\n", "class/drm/card1/device/gpu_busy_percent": "40\n"})
	for shown, want := range map[string]float64{"": 0.97, first: 0.03} {
		if got, err := m.Busy(t.Context(), shown); err != nil || got != want {
			t.Errorf("of %q: %g, %v, want %g", shown, got, err, want)
		}
	}
	m.SMI = filepath.Join(t.TempDir(), "nvidia-smi")
	if got, err := m.Busy(t.Context(), ""); err != nil || got != 0.4 {
		t.Errorf("of AMD's %g, %v", got, err)
	}
	for _, rows := range []string{"", "0, GPU-1, NVIDIA L4, 00000000:01:00.0, 1, 8.9, [N/A]\n"} { // a part of a card reports nothing
		if got, err := machine(t, rows, nil).Busy(t.Context(), ""); err == nil {
			t.Errorf("%q gives %g", rows, got)
		}
	}
}

func TestHighestCapabilityCounts(t *testing.T) {
	t.Parallel()
	m := machine(t, fourCards, nil)
	for shown, want := range map[string]int{"": 890, first: 860} {
		if got, err := m.Capability(t.Context(), shown); err != nil || got != want {
			t.Errorf("of %q: %d, %v, want %d", shown, got, err, want)
		}
	}
	if got, err := machine(t, "0, GPU-1, NVIDIA X, 00000000:01:00.0, 1, [N/A]\n", nil).Capability(t.Context(), ""); err == nil {
		t.Errorf("what is no number reads %d", got)
	}
}

// TestProcessorsAreSharedOut between the cards that they are near to.
func TestProcessorsAreSharedOut(t *testing.T) {
	t.Parallel()
	known, unknown := gpu.Card{Node: 0, CPUs: upTo(0, 7)}, gpu.Card{Node: gpu.Unknown}
	other := gpu.Card{Node: 1, CPUs: upTo(8, 15)}
	for name, c := range map[string]struct {
		cards  []gpu.Card
		has    gpu.Processors
		cores  []int
		pinned []bool
	}{
		"alone":                             {[]gpu.Card{known}, gpu.Processors{CPUs: upTo(0, 7), AtOnce: 8}, []int{8}, []bool{false}},
		"two of one node":                   {[]gpu.Card{known, known}, gpu.Processors{CPUs: upTo(0, 15), AtOnce: 16}, []int{4, 4}, []bool{true, true}},
		"three of twelve":                   {[]gpu.Card{unknown, unknown, unknown}, gpu.Processors{CPUs: upTo(0, 11), AtOnce: 12}, []int{4, 4, 4}, []bool{false, false, false}},
		"three of one node, one of another": {[]gpu.Card{known, known, known, other}, gpu.Processors{CPUs: upTo(0, 15), AtOnce: 16}, []int{2, 2, 2, 8}, []bool{true, true, true, true}},
		"one whose node is unknown":         {[]gpu.Card{known, unknown}, gpu.Processors{CPUs: upTo(0, 15), AtOnce: 16}, []int{4, 12}, []bool{true, false}},
		"a part of a node is ours":          {[]gpu.Card{known, other}, gpu.Processors{CPUs: upTo(6, 9), AtOnce: 4}, []int{2, 2}, []bool{true, true}},
		"none of the node is ours":          {[]gpu.Card{known}, gpu.Processors{CPUs: upTo(8, 15), AtOnce: 8}, []int{8}, []bool{false}},
		"a group gives half of the time":    {[]gpu.Card{known, other}, gpu.Processors{CPUs: upTo(0, 15), AtOnce: 8}, []int{4, 4}, []bool{true, true}},
		"more cards than cores":             {[]gpu.Card{unknown, unknown, unknown}, gpu.Processors{CPUs: upTo(0, 1), AtOnce: 2}, []int{1, 1, 1}, []bool{false, false, false}},
		"unknown processors":                {[]gpu.Card{known, other}, gpu.Processors{AtOnce: 8}, []int{4, 4}, []bool{false, false}},
	} {
		shares := gpu.Shares(c.cards, c.has)
		for i, s := range shares {
			if s.Cores != c.cores[i] || (s.Pin != nil) != c.pinned[i] {
				t.Errorf("%s: card %d has %d cores, pinned to %v, want %d, %t", name, i, s.Cores, s.Pin, c.cores[i], c.pinned[i])
			}
			for _, n := range s.Pin {
				if !slices.Contains(c.has.CPUs, n) || !slices.Contains(c.cards[i].CPUs, n) {
					t.Errorf("%s: card %d is pinned to processor %d", name, i, n)
				}
			}
		}
	}
}

// TestOwnProcessorsAreThoseOfTheKernel counts the bits of the mask that /proc shows.
func TestOwnProcessorsAreThoseOfTheKernel(t *testing.T) {
	t.Parallel()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for line := range strings.Lines(string(status)) {
		mask, ok := strings.CutPrefix(line, "Cpus_allowed:")
		for word := range strings.SplitSeq(strings.TrimSpace(mask), ",") {
			if n, err := strconv.ParseUint(word, 16, 64); ok && err == nil {
				allowed += bits.OnesCount64(n)
			}
		}
	}
	if own := gpu.Own(); allowed == 0 || len(own.CPUs) != allowed || own.AtOnce < 1 {
		t.Errorf("%+v, the kernel says %d", own, allowed)
	}
}

// upTo are the numbers of a range.
func upTo(first, last int) (all []int) {
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}
