package exr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The numbers that begin a chunk of DWA, 64 bits each.
const (
	dwaVersion      = iota
	dwaPlain            // bytes of channels that are packed without loss
	dwaPlainPacked      //
	dwaWavesPacked      // bytes of the waves' heights ("AC")
	dwaMeansPacked      // bytes of the blocks' means ("DC")
	dwaRunsPacked       // bytes of alpha
	dwaRunsUnzipped     // as runs
	dwaRuns             // as values
	dwaWaves            // values of 16 bits
	dwaMeans            // values of 16 bits
	dwaWavesHow         // 0 Huffman, 1 zlib
	dwaHead             // how many numbers there are
	dwaBlock        = 8 // pixels on each side
)

func (c *codec) unpackDWA(stored io.Reader, size int64, n int) error {
	packed, err := c.load(stored, size)
	if err == nil {
		err = c.dwa(packed, n)
	}
	return err
}

// dwa checks the structure of a DWA chunk: each of its parts must unpack to the size that
// its channels have, and those that are shown become rows. The pixels themselves come out of float
// arithmetic, which differs between processors, so they have no hash of their own.
func (c *codec) dwa(packed []byte, n int) error {
	if len(packed) < 8*dwaHead {
		return io.ErrUnexpectedEOF
	}
	var head [dwaHead]uint64
	for i := range head {
		head[i] = binary.LittleEndian.Uint64(packed[8*i:])
		if i != dwaWavesHow && head[i] > 1<<40 {
			return fmt.Errorf("its number %d is impossible", i)
		}
	}
	packed = packed[8*dwaHead:]
	rules, packed, err := dwaRulesOf(head[dwaVersion], packed)
	if err != nil {
		return err
	}
	blocks := uint64((n+dwaBlock-1)/dwaBlock) * uint64((c.Width+dwaBlock-1)/dwaBlock)
	var plain, runs, waved uint64
	for _, ch := range c.Channels {
		switch size := uint64(n) * uint64(c.Width) * uint64(ch.bytes); kindOf(ch, rules) {
		case dwaIsWaved:
			waved++
		case dwaIsRuns:
			runs += size
		default:
			plain += size
		}
	}
	if head[dwaPlain] != plain || head[dwaRuns] != runs || head[dwaMeans] != waved*blocks || head[dwaWaves] > 63*waved*blocks ||
		head[dwaRunsUnzipped] > 2*runs { // the runs of an alpha that does not pack are longer than it is
		return errors.New("its parts are not those of its channels")
	}
	need := 2*head[dwaWaves] + max(plain, 2*head[dwaMeans], 2*head[dwaWaves], head[dwaRunsUnzipped]+runs)
	if c.most > 0 && need > uint64(c.most) {
		return fmt.Errorf("it unpacks to %d bytes", need)
	}
	parts := [4][]byte{}
	for i, at := range [...]int{dwaPlainPacked, dwaWavesPacked, dwaMeansPacked, dwaRunsPacked} {
		if uint64(len(packed)) < head[at] {
			return io.ErrUnexpectedEOF
		}
		parts[i], packed = packed[:head[at]], packed[head[at]:]
	}
	if len(packed) > 0 {
		return errors.New("bytes are left")
	}
	if c.shows {
		return c.dwaRows(parts, head, rules, n)
	}
	return c.dwaParts(parts, head, int(waved*blocks))
}

// dwaParts unpacks the four parts, one after the other into the same buffer.
func (c *codec) dwaParts(parts [4][]byte, head [dwaHead]uint64, blocks int) error {
	zipped := func(part []byte, size uint64) ([]byte, error) {
		c.spare = grown(c.spare, int(size))
		if size == 0 && len(part) == 0 {
			return c.spare, nil
		}
		return c.spare, c.inflate(bytes.NewReader(part), c.spare)
	}
	if _, err := zipped(parts[0], head[dwaPlain]); err != nil {
		return err
	}
	if _, err := zipped(parts[2], 2*head[dwaMeans]); err != nil {
		return err
	}
	runs, err := zipped(parts[3], head[dwaRunsUnzipped])
	if err == nil && head[dwaRuns] > 0 {
		c.raw = grown(c.raw, int(head[dwaRuns]))
		err = expandRuns(c.raw, runs)
	}
	if err != nil {
		return err
	}
	waves, err := c.dwaWaves(parts[1], head)
	if err != nil {
		return err
	}
	return dwaBlocks(waves, blocks)
}

// dwaWaves unpacks the waves of all blocks.
func (c *codec) dwaWaves(part []byte, head [dwaHead]uint64) (waves []uint16, err error) {
	waves = make([]uint16, head[dwaWaves])
	switch {
	case head[dwaWaves] == 0 && len(part) == 0:
	case head[dwaWavesHow] == 0:
		err = unpackHuffman(waves, part)
	case head[dwaWavesHow] == 1:
		c.spare = grown(c.spare, int(2*head[dwaWaves]))
		if err = c.inflate(bytes.NewReader(part), c.spare); err == nil {
			_, err = binary.Decode(c.spare, binary.LittleEndian, waves)
		}
	default:
		err = errors.New("its waves are packed in an unknown way")
	}
	return waves, err
}

// dwaBlocks checks that the waves are those of so many blocks: 63 heights each, of which
// runs of zeros are one value; the last run of a block may have no length.
func dwaBlocks(waves []uint16, blocks int) error {
	for range blocks {
		for have := 1; have < dwaBlock*dwaBlock; {
			if len(waves) == 0 {
				return io.ErrUnexpectedEOF
			}
			v := waves[0]
			waves = waves[1:]
			switch {
			case v>>8 != 0xff:
				have++
			case v&0xff == 0:
				have = dwaBlock * dwaBlock
			default:
				have += int(v & 0xff)
			}
			if have > dwaBlock*dwaBlock {
				return errors.New("its blocks have more than 64 values")
			}
		}
	}
	if len(waves) > 0 {
		return errors.New("it has more waves than blocks")
	}
	return nil
}

// How DWA packs a channel.
const (
	dwaIsPlain = iota
	dwaIsWaved
	dwaIsRuns
)

// dwaRulesOf gives the rules by which channels are packed: those that precede the parts since
// version 2, and the well-known ones before. It returns what follows the rules.
func dwaRulesOf(version uint64, packed []byte) (rules []dwaRule, rest []byte, err error) {
	switch {
	case version > 2:
		return nil, nil, fmt.Errorf("it is of an unknown version %d", version)
	case version == 2:
		return dwaRules(packed)
	}
	for colour, names := range [][]string{{"r", "red"}, {"g", "grn", "green"}, {"b", "blu", "blue"}, {"y", "by", "ry"}} {
		if colour == 3 {
			colour = -1 // brightness and its like
		}
		for _, name := range names {
			rules = append(rules, dwaRule{name, true, dwaIsWaved, 1, colour}, dwaRule{name, true, dwaIsWaved, 2, colour})
		}
	}
	for kind := range uint8(3) {
		rules = append(rules, dwaRule{"a", true, dwaIsRuns, kind, -1})
	}
	return rules, packed, nil
}

// dwaRule says how channels of a name and a type are packed.
type dwaRule struct {
	name    string
	anyCase bool
	kind    int
	values  uint8 // 0 whole numbers, 1 half, 2 float
	colour  int   // 0 red, 1 green, 2 blue; less for others
}

func (r dwaRule) fits(c Channel) bool {
	name, values := c.Name[strings.LastIndexByte(c.Name, '.')+1:], uint8(0)
	if c.Float {
		values = uint8(c.bytes / 2)
	}
	return r.values == values && (name == r.name || (r.anyCase && strings.EqualFold(name, r.name)))
}

// dwaRules reads the rules of a chunk: their size, and for each a name with a zero byte, how
// it packs, and the type of its values.
func dwaRules(packed []byte) (rules []dwaRule, rest []byte, err error) {
	if len(packed) < 2 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	size := int(binary.LittleEndian.Uint16(packed))
	if size < 2 || size > len(packed) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	for list := packed[2:size]; len(list) > 0; {
		end := bytes.IndexByte(list, 0)
		if end < 0 || len(list) < end+3 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		how := list[end+1]
		r := dwaRule{string(list[:end]), how&1 != 0, int(how >> 2 & 3), list[end+2], int(how>>4) - 1}
		if r.kind > dwaIsRuns || r.values > 2 || r.colour > 2 {
			return nil, nil, errors.New("a rule of its channels is unknown")
		}
		rules, list = append(rules, r), list[end+3:]
	}
	return rules, packed[size:], nil
}
