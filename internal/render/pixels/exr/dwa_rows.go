package exr

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// The pixels of DWA, as OpenEXR 3 decodes them: blocks of 8 by 8 values are the sum of a mean and
// waves (an inverse cosine transform), three of them are the red, green and blue of a layer, and
// each value is then made light by a power. Views and thumbnails show them; hashes never see them.

// dwaRows makes the rows of a chunk from its parts, whose sizes have been checked.
func (c *codec) dwaRows(parts [4][]byte, head [dwaHead]uint64, rules []dwaRule, n int) error {
	unzipped := func(part []byte, size uint64) ([]byte, error) {
		out := make([]byte, size)
		if size == 0 && len(part) == 0 {
			return out, nil
		}
		return out, c.inflate(bytes.NewReader(part), out)
	}
	d := dwaDecoder{codec: c, n: n}
	waves, err := c.dwaWaves(parts[1], head)
	if err != nil {
		return err
	}
	d.waves = waves
	sorted, err := unzipped(parts[2], 2*head[dwaMeans])
	if err != nil {
		return err
	}
	means := make([]byte, len(sorted))
	unsort(means, sorted)
	d.means = means
	plain, err := unzipped(parts[0], head[dwaPlain])
	if err != nil {
		return err
	}
	packed, err := unzipped(parts[3], head[dwaRunsUnzipped])
	if err != nil {
		return err
	}
	runs := make([]byte, head[dwaRuns])
	if len(runs) > 0 {
		if err := expandRuns(runs, packed); err != nil {
			return err
		}
	}
	c.raw = grown(c.raw, n*c.rowBytes)
	waved, colours := c.dwaWaved(rules)
	if err := dwaBlocks(d.waves, len(waved)*d.blocks()); err != nil {
		return err
	}
	for ; colours > 0; colours-- {
		d.put(waved[:3])
		waved = waved[3:]
	}
	for i := range waved {
		d.put(waved[i : i+1])
	}
	for _, ch := range c.Channels {
		size := n * c.Width * ch.bytes
		switch kindOf(ch, rules) {
		case dwaIsPlain:
			for y := range n {
				copy(c.raw[y*c.rowBytes+ch.offset:], plain[y*ch.bytes*c.Width:][:ch.bytes*c.Width])
			}
			plain = plain[size:]
		case dwaIsRuns: // first the first bytes of all values, then the second ones
			for at, b := range runs[:size] {
				byteOf, value := at/(n*c.Width), at%(n*c.Width)
				c.raw[value/c.Width*c.rowBytes+ch.offset+value%c.Width*ch.bytes+byteOf] = b
			}
			runs = runs[size:]
		}
	}
	return nil
}

// dwaWaved lists the channels that are waves in the order of their blocks: the colours of so many
// layers, three by three, and then the others.
func (c *codec) dwaWaved(rules []dwaRule) (all []Channel, colours int) {
	type layer struct {
		name string
		rgb  [3]*Channel
	}
	var layers []layer
	for i, ch := range c.Channels {
		r, ok := ruleOf(ch, rules)
		if !ok || r.kind != dwaIsWaved || r.colour < 0 {
			continue
		}
		name := ch.Layer()
		at := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
		if at < 0 {
			at, layers = len(layers), append(layers, layer{name: name})
		}
		layers[at].rgb[r.colour] = &c.Channels[i]
	}
	slices.SortStableFunc(layers, func(a, b layer) int { return cmp.Compare(a.name, b.name) })
	listed := map[string]bool{}
	for _, l := range layers {
		if l.rgb[0] == nil || l.rgb[1] == nil || l.rgb[2] == nil {
			continue
		}
		colours++
		for _, ch := range l.rgb {
			all, listed[ch.Name] = append(all, *ch), true
		}
	}
	for _, ch := range c.Channels {
		if !listed[ch.Name] && kindOf(ch, rules) == dwaIsWaved {
			all = append(all, ch)
		}
	}
	return all, colours
}

// dwaDecoder makes rows of blocks.
type dwaDecoder struct {
	*codec
	n     int      // rows
	waves []uint16 // that are still to come
	means []byte   // the same, 16 bits each
}

// blocks is how many blocks a channel has.
func (d *dwaDecoder) blocks() int {
	return (d.n + dwaBlock - 1) / dwaBlock * ((d.Width + dwaBlock - 1) / dwaBlock)
}

// put makes the rows of one channel, or of three that are colours.
func (d *dwaDecoder) put(channels []Channel) {
	var block [3][dwaBlock * dwaBlock]float32
	blocks, across := d.blocks(), (d.Width+dwaBlock-1)/dwaBlock
	for at := range blocks {
		for i := range channels {
			block[i][0] = halfValue(binary.LittleEndian.Uint16(d.means[2*(i*blocks+at):]))
			d.block(&block[i])
		}
		if len(channels) == 3 {
			for i, y := range block[0] {
				blue, red := block[1][i], block[2][i]
				block[0][i], block[1][i], block[2][i] = y+1.5747*red, y-0.1873*blue-0.4682*red, y+1.8556*blue
			}
		}
		for i, ch := range channels {
			d.store(ch, &block[i], at/across*dwaBlock, at%across*dwaBlock, len(channels) == 3 || !ch.linear)
		}
	}
	d.means = d.means[2*blocks*len(channels):]
}

// block reads the waves of a block whose mean is there, and adds them up.
func (d *dwaDecoder) block(block *[dwaBlock * dwaBlock]float32) {
	clear(block[1:])
	last := 0
	for at := 1; at < len(block); {
		v := d.waves[0]
		d.waves = d.waves[1:]
		switch {
		case v>>8 != 0xff:
			block[dwaZigzag[at]] = halfValue(v)
			last = at
			at++
		case v&0xff == 0:
			at = len(block)
		default:
			at += int(v & 0xff)
		}
	}
	if last == 0 {
		for i := range block {
			block[i] = block[0] / dwaBlock
		}
		return
	}
	dwaSum(block)
}

// store writes a block into the rows that it covers.
func (d *dwaDecoder) store(ch Channel, block *[dwaBlock * dwaBlock]float32, top, left int, powers bool) {
	light := dwaLight()
	for y := top; y < min(top+dwaBlock, d.n); y++ {
		row := d.raw[y*d.rowBytes+ch.offset:]
		for x := left; x < min(left+dwaBlock, d.Width); x++ {
			half := halfBits(block[(y-top)*dwaBlock+x-left])
			if powers {
				half = light[half]
			}
			if ch.bytes == 2 {
				binary.LittleEndian.PutUint16(row[2*x:], half)
			} else {
				binary.LittleEndian.PutUint32(row[4*x:], math.Float32bits(halfValue(half)))
			}
		}
	}
}

// dwaZigzag is where the values of a block are, from slow to fast waves.
var dwaZigzag = func() (places [dwaBlock * dwaBlock]int) {
	x, y, up := 0, 0, true
	for i := range places {
		places[i] = y*dwaBlock + x
		switch {
		case up && x == dwaBlock-1:
			y, up = y+1, false
		case up && y == 0:
			x, up = x+1, false
		case up:
			x, y = x+1, y-1
		case y == dwaBlock-1:
			x, up = x+1, true
		case x == 0:
			y, up = y+1, true
		default:
			x, y = x-1, y+1
		}
	}
	return places
}()

// dwaCosines are the waves: the heights of a frequency at the eight places.
var dwaCosines = func() (waves [dwaBlock][dwaBlock]float32) {
	for u := range waves {
		scale := 0.5
		if u == 0 {
			scale = math.Sqrt(0.125)
		}
		for x := range waves[u] {
			waves[u][x] = float32(scale * math.Cos(float64(2*x+1)*float64(u)*math.Pi/16))
		}
	}
	return waves
}()

// dwaSum adds up the waves of a block, first of its rows and then of its columns.
func dwaSum(block *[dwaBlock * dwaBlock]float32) {
	var half [dwaBlock * dwaBlock]float32
	for i, height := range block {
		if height == 0 {
			continue
		}
		out, wave := half[i/dwaBlock*dwaBlock:][:dwaBlock], &dwaCosines[i%dwaBlock]
		for x := range out {
			out[x] += height * wave[x]
		}
	}
	clear(block[:])
	for v := range dwaBlock {
		for y, wave := range dwaCosines[v] {
			for x := range dwaBlock {
				block[y*dwaBlock+x] += half[v*dwaBlock+x] * wave
			}
		}
	}
}

// dwaLight is the light of each half value: a power, and for values beyond 1 an exponential.
var dwaLight = sync.OnceValue(func() *[1 << 16]uint16 {
	var light [1 << 16]uint16
	for i := range light {
		v := float64(halfValue(uint16(i)))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue // 0
		}
		size := math.Abs(v)
		if size <= 1 {
			size = math.Pow(size, 2.2)
		} else {
			size = math.Exp(2.2 * (size - 1))
		}
		light[i] = halfBits(float32(math.Copysign(size, v)))
	}
	return &light
})

// halfBits is the half that is nearest to a value.
func halfBits(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, rest := uint16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case rest > 0x7f800000: // no number
		return sign | 0x7e00
	case rest >= 0x477ff000: // it rounds to infinity
		return sign | 0x7c00
	case rest < 0x33000000: // half of the smallest half, and less
		return sign
	case rest < 0x38800000: // below the normal ones
		return sign | uint16(math.RoundToEven(math.Abs(float64(v))*(1<<24)))
	}
	rest += 0xfff + rest>>13&1
	return sign | uint16((rest-0x38000000)>>13)
}

// kindOf is how a channel is packed.
func kindOf(ch Channel, rules []dwaRule) int {
	r, _ := ruleOf(ch, rules)
	return r.kind
}

// ruleOf is the rule of a channel; false where none is.
func ruleOf(ch Channel, rules []dwaRule) (dwaRule, bool) {
	at := slices.IndexFunc(rules, func(r dwaRule) bool { return r.fits(ch) })
	if at < 0 {
		return dwaRule{kind: dwaIsPlain, colour: -1}, false
	}
	return rules[at], true
}
