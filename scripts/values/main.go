// Command values finds out where a .blend stores what curves set. It has Blender give each number
// with a fraction a value of its own (scripts/scenes/contentkey_values.py), looks for these in
// the file, and prints the table that internal/render/contentkey reads. Run it in the repository's
// root, once for each version of Blender; without Blenders it prints an error:
//
//	go run ./scripts/values BLENDER... > internal/render/contentkey/values.txt
//
// A number that is stored in several places, or in another place in another version, is left out.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/dna"
	"svc.example/internal/render/blendfile/records"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "values:", err)
		os.Exit(1)
	}
}

// property is what a curve names: the struct that has the value, or the kind of node, and the
// path from there.
type property struct{ of, path string }

// places are the members that store a property, one for each of its numbers.
type places map[property]string

// unclear stands for several places.
const unclear = ""

func run(ctx context.Context, blenders []string) error {
	if len(blenders) == 0 {
		return errors.New("name the Blenders to ask")
	}
	all := places{}
	for _, blender := range blenders {
		found, err := ask(ctx, blender)
		if err != nil {
			return err
		}
		for p, members := range found {
			all.add(p, members)
		}
	}
	fmt.Println("# Where .blend files store what curves set. Printed by scripts/values; do not edit.")
	fmt.Println("# The struct or the kind of node, the path of the property from it, and the member of each of its")
	fmt.Println("# numbers: of nodes with the struct, which is the node or its storage.")
	for _, p := range slices.SortedFunc(maps.Keys(all), func(a, b property) int {
		return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.path, b.path))
	}) {
		if all[p] != unclear {
			fmt.Println(p.of, p.path, all[p])
		}
	}
	return nil
}

func (all places) add(p property, members string) {
	if known, ok := all[p]; ok && known != members {
		members = unclear
	}
	all[p] = members
}

// said is a line of the script.
type said struct {
	Node   string // its kind; "" for others
	Path   string
	Values []float32
}

func ask(ctx context.Context, blender string) (places, error) {
	folder, err := os.MkdirTemp("", "svc-values-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "values.blend")
	script := filepath.Join("scripts", "scenes", "contentkey_values.py")
	command := exec.CommandContext(ctx, blender, "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", script, "--", path)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", blender, err)
	}
	stored, err := numbers(path)
	if err != nil {
		return nil, err
	}
	found := places{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		line, ok := bytes.CutPrefix(lines.Bytes(), []byte("VALUE "))
		if !ok {
			continue
		}
		var one said
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		stored.find(found, one)
	}
	return found, lines.Err()
}

// place is where a file stores a number.
type place struct{ of, member string }

// store is where a file has each number.
type store map[uint32][]place

// container is what of a path leads to a struct with a name of its own.
var container = regexp.MustCompile(`^(pose\.bones\["[^"]*"\]\.)?((modifiers|constraints|key_blocks|nodes)\["[^"]*"\]\.)?`)

// find adds the place of each number of a property, if there is one.
func (s store) find(found places, one said) {
	var of string
	var members []string
	for _, v := range one.Values {
		at := s[math.Float32bits(v)]
		if len(at) != 1 || of != "" && at[0].of != of {
			return
		}
		of, members = at[0].of, append(members, at[0].member)
		if one.Node != "" {
			members[len(members)-1] = of + "." + at[0].member
		}
	}
	of = cmp.Or(one.Node, of)
	found.add(property{of, container.ReplaceAllString(one.Path, "")}, strings.Join(members, " "))
}

// computed are members that Blender makes of others.
var computed = regexp.MustCompile(`^(obmat|imat|constinv|chan_mat|pose_mat|disp_mat|disp_tail_mat|pose_head|pose_tail|runtime)\b`)

// numbers reads where a file has which number.
func numbers(path string) (store, error) {
	all := store{}
	var shape *records.Shape
	read := func(visit func(records.Block, io.Reader) error) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		shape, err = records.Walk(f, records.Options{}, visit)
		return err
	}
	if err := read(func(records.Block, io.Reader) error { return nil }); err != nil {
		return nil, err
	}
	known := shape
	err := read(func(b records.Block, data io.Reader) error {
		l, err := known.DNA.Layout(known.DNA.StructName(b.Index))
		if err != nil || l == nil || l.Size == 0 {
			return err
		}
		raw := make([]byte, b.Size)
		if _, err := io.ReadFull(data, raw); err != nil {
			return err
		}
		for len(raw) >= l.Size {
			if err := all.take(known, l, l.Name, "", raw[:l.Size]); err != nil {
				return err
			}
			raw = raw[l.Size:]
		}
		return nil
	})
	return all, err
}

// take adds the numbers of a struct within a block's.
func (s store) take(shape *records.Shape, l *dna.Layout, of, prefix string, raw []byte) error {
	for _, f := range l.Fields() {
		if f.Pointer || computed.MatchString(f.Name) {
			continue
		}
		if inner, err := shape.DNA.Layout(f.Type); err != nil {
			return err
		} else if inner != nil && inner.Size > 0 {
			for i := range f.Count {
				at := f.Offset + i*inner.Size
				if err := s.take(shape, inner, of, prefix+f.Name+".", raw[at:at+inner.Size]); err != nil {
					return err
				}
			}
			continue
		}
		if f.Type != "float" {
			continue
		}
		for at := f.Offset; at < f.Offset+f.Size; at += 4 {
			bits := binary.LittleEndian.Uint32(raw[at:])
			s[bits] = append(s[bits], place{of, fmt.Sprintf("%s%s:%d", prefix, f.Name, (at-f.Offset)/4)})
		}
	}
	return nil
}
