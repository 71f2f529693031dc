// Package gpu reports which GPUs a machine has, how busy they are, how much of their memory
// is free, and which processor cores are near each.
//
// What always holds: a card is named by its UUID, since numbers of cards differ between
// programs; what the machine does not report is called unknown and not guessed. It asks
// nvidia-smi, and Linux through /sys. The worker decides what runs on a card. Start reading
// at Machine.Cards and Shares.
package gpu

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// VisibleDevices is the variable that says which of NVIDIA's cards a program may use.
const VisibleDevices = "CUDA_VISIBLE_DEVICES"

// Machine is where the answers come from. The zero value is this machine.
type Machine struct {
	SMI string // nvidia-smi; the one on the PATH when empty
	Sys string // Linux's /sys when empty
}

// Card is one GPU of NVIDIA's.
type Card struct {
	Index int    // as nvidia-smi counts, from 0
	UUID  string // "GPU-…", which VisibleDevices takes
	Name  string
	PCI   string // its address as /sys has it: "0000:3b:00.0"
	Node  int    // its NUMA node; Unknown if the machine does not report it
	CPUs  []int  // processors of that node; nil where it is unknown
}

// Unknown is the NUMA node of a card whose machine has none or does not report
// it.
const Unknown = -1

// timeout bounds nvidia-smi, which can hang with a driver that does.
const timeout = 10 * time.Second

// query asks nvidia-smi for a row of each card. shown restricts it to some cards, as
// VisibleDevices does; "" asks for all.
func (m Machine) query(ctx context.Context, shown string, fields string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	program := m.SMI
	if program == "" {
		program = "nvidia-smi"
	}
	args := []string{"--query-gpu=" + fields, "--format=csv,noheader,nounits"}
	if shown != "" {
		args = append(args, "--id="+shown)
	}
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("ask nvidia-smi: %w", err)
	}
	lines := csv.NewReader(strings.NewReader(string(out)))
	lines.TrimLeadingSpace, lines.FieldsPerRecord = true, strings.Count(fields, ",")+1
	rows, err := lines.ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("it names no GPU")
	}
	if err != nil {
		return nil, fmt.Errorf("read what nvidia-smi says: %w", err)
	}
	return rows, nil
}

// Cards returns the cards that a program may use, in nvidia-smi's order. shown restricts
// them, as VisibleDevices does; "" means all. Errors: there is no nvidia-smi, it finds no
// card, or it says what cannot be read.
func (m Machine) Cards(ctx context.Context, shown string) ([]Card, error) {
	rows, err := m.query(ctx, shown, "index,uuid,name,pci.bus_id")
	if err != nil {
		return nil, err
	}
	var cards []Card
	for _, row := range rows {
		index, err := strconv.Atoi(row[0])
		pci, ok := sysName(row[3])
		if err != nil || !ok || !strings.HasPrefix(row[1], "GPU-") {
			return nil, fmt.Errorf("read what nvidia-smi says: %q is no card", strings.Join(row, ", "))
		}
		c := Card{Index: index, UUID: row[1], Name: row[2], PCI: pci}
		c.Node, c.CPUs = m.near(pci)
		cards = append(cards, c)
	}
	return cards, nil
}

// sysName is a PCI address, "00000000:3B:00.0" for nvidia-smi, as /sys names it.
func sysName(bus string) (string, bool) {
	domain, rest, ok := strings.Cut(strings.ToLower(bus), ":")
	n, err := strconv.ParseUint(domain, 16, 32)
	if !ok || err != nil || strings.ContainsAny(rest, "/ ") {
		return "", false
	}
	return fmt.Sprintf("%04x:%s", n, rest), true
}

// near returns the NUMA node of a device and its processors.
func (m Machine) near(pci string) (node int, cpus []int) {
	dir := filepath.Join(m.sys(), "bus/pci/devices", pci)
	n, err := readNumber(filepath.Join(dir, "numa_node"))
	if err != nil || n < 0 { // -1 where the firmware does not tell
		return Unknown, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "local_cpulist"))
	if err != nil {
		return Unknown, nil
	}
	if cpus, err = parseList(string(text)); err != nil || len(cpus) == 0 {
		return Unknown, nil
	}
	return int(n), cpus
}

// parseList reads a list of processors as Linux writes it: "0-3,8,10-11".
func parseList(text string) (all []int, err error) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if part == "" {
			continue
		}
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err := errors.Join(err1, err2); err != nil || first > last {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		for n := first; n <= last; n++ {
			all = append(all, int(n))
		}
	}
	return all, nil
}

// Free is the free memory, in bytes, of the shown card with the least, since a program puts
// its scene on each. All AMD cards count. Error: nothing reports it.
func (m Machine) Free(ctx context.Context, shown string) (int64, error) {
	rows, err := m.query(ctx, shown, "memory.free")
	if err != nil {
		if cards, _ := filepath.Glob(filepath.Join(m.sys(), "class/drm/card*/device/mem_info_vram_total")); len(cards) > 0 { // the pattern is well-formed
			return leastOf(cards)
		}
		return 0, fmt.Errorf("measure the free memory of the GPU: %w", err)
	}
	least := int64(-1)
	for _, row := range rows {
		mib, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read what nvidia-smi says of the free memory: %w", err)
		}
		if least < 0 || mib<<20 < least {
			least = mib << 20
		}
	}
	return least, nil
}

// Busy is the share of the last moment, 0 to 1, during which the busiest shown card computed.
// All AMD cards count. Error: nothing reports it.
func (m Machine) Busy(ctx context.Context, shown string) (most float64, err error) {
	rows, err := m.query(ctx, shown, "utilization.gpu")
	if err != nil {
		cards, _ := filepath.Glob(filepath.Join(m.sys(), "class/drm/card*/device/gpu_busy_percent")) // the pattern is well-formed
		if len(cards) == 0 {
			return 0, fmt.Errorf("measure how busy the GPU is: %w", err)
		}
		for _, card := range cards {
			percent, err := readNumber(card)
			if err != nil {
				return 0, fmt.Errorf("measure how busy the GPU is: %w", err)
			}
			most = max(most, float64(percent)/100)
		}
		return most, nil
	}
	for _, row := range rows {
		percent, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read what nvidia-smi says of how busy a card is: %w", err)
		}
		most = max(most, float64(percent)/100)
	}
	return most, nil
}

// Capability is the highest compute capability of the NVIDIA cards that are shown, as CUDA's
// compiler counts it: 890 for 8.9. Error: nothing reports it.
func (m Machine) Capability(ctx context.Context, shown string) (most int, err error) {
	rows, err := m.query(ctx, shown, "compute_cap")
	for _, row := range rows {
		var major, minor int
		if _, err := fmt.Sscanf(row[0], "%d.%d", &major, &minor); err != nil {
			return 0, fmt.Errorf("read what nvidia-smi says of a card's capability: %w", err)
		}
		most = max(most, major*100+minor*10)
	}
	return most, err
}

// leastOf is the free memory of AMD's card that has least.
func leastOf(cards []string) (int64, error) {
	least := int64(-1)
	for _, card := range cards {
		most, err1 := readNumber(card)
		used, err2 := readNumber(filepath.Join(filepath.Dir(card), "mem_info_vram_used"))
		if err := errors.Join(err1, err2); err != nil {
			return 0, fmt.Errorf("measure the free memory of the GPU: %w", err)
		}
		if free := most - used; least < 0 || free < least {
			least = free
		}
	}
	return least, nil
}

func (m Machine) sys() string {
	if m.Sys == "" {
		return "/sys"
	}
	return m.Sys
}

// readNumber reads a file that holds one.
func readNumber(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
