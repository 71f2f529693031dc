package blendfile

import (
	"math"

	"svc.example/internal/render/blendfile/records"
)

// sampleCurve is a curve of an action that sets a scene's samples.
type sampleCurve struct {
	records.Record
	slot int // of the action, from 4.4 on; 0 before
}

// setsSamples reports whether an RNA path of a scene is that of its samples.
func setsSamples(path string) bool {
	return path == "cycles.samples" || path == `["cycles"]["samples"]`
}

// samplesCurves finds the curves that set samples, by the ordinal of the action. From 4.4
// an action can hold the curves of several data-blocks, each in its slot.
func (f *file) samplesCurves() map[uint32][]sampleCurve {
	if f.sampleCurves != nil {
		return f.sampleCurves
	}
	f.sampleCurves = map[uint32][]sampleCurve{}
	for c := range f.Everywhere("FCurve") {
		if c.Ptr("driver") == 0 && c.Int("flag")&curveMuted == 0 && setsSamples(records.CString(f.Raw(c, c.Ptr("rna_path")))) {
			f.sampleCurves[c.Owner()] = append(f.sampleCurves[c.Owner()], sampleCurve{Record: c})
		}
	}
	for bag := range f.Everywhere("ActionChannelbag") {
		own := f.sampleCurves[bag.Owner()]
		if len(own) == 0 {
			continue
		}
		curves := f.Raw(bag, bag.Ptr("fcurve_array"))
		for ; len(curves) >= f.Pointer; curves = curves[f.Pointer:] {
			for i := range own {
				if own[i].Addr() == f.Address(curves) {
					own[i].slot = bag.Int("slot_handle")
				}
			}
		}
	}
	return f.sampleCurves
}

// sampleKeys returns the most samples that keyframes set in each part of the timeline, and
// whether anything but a driver changes the samples. There are no spans where what the
// keyframes set cannot be told from them: by modifiers, the NLA, or curves that swing over
// their keys.
func (f *file) sampleKeys(scene records.Record) (spans []Span, changing bool) {
	if f.chosen.of(scene) && f.chosen.Samples != 0 {
		return nil, false
	}
	adt := scene.Follow("adt", "AnimData")
	layered := false
	for track := range adt.List("nla_tracks", "NlaTrack") {
		for strip := range track.List("strips", "NlaStrip") {
			layered = true
			if at, ok := f.reach.At(strip.Ptr("act")); ok && len(f.samplesCurves()[at]) > 0 {
				changing = true
			}
		}
	}
	action, ok := f.reach.At(adt.Ptr("action"))
	if !ok || adt.Ptr("action") == 0 {
		return nil, changing
	}
	for _, c := range f.samplesCurves()[action] {
		if c.slot != 0 && c.slot != adt.Int("slot_handle") {
			continue
		}
		if layered {
			return nil, true
		}
		return f.spans(c.Record, frameLength(scene)), true
	}
	return nil, changing
}

// frameLength is how far the time of an animation goes in a frame: see Time Remapping.
func frameLength(scene records.Record) float64 {
	mapped, old := scene.Int("r.framapto"), scene.Int("r.images")
	if mapped <= 0 || old <= 0 {
		return 1
	}
	return float64(mapped) / float64(old)
}

const (
	farFrame = 1 << 30 // beyond all frames

	// Kinds of curves from one key to the next (BezTriple.ipo).
	curveConstant = 0
	curveLinear   = 1
	curveBezier   = 2
	curveBack     = 3
	curveElastic  = 7

	extendsLinearly = 1 // FCurve.extend
)

// spans bounds a curve from key to key; nil where that cannot be done.
func (f *file) spans(c records.Record, length float64) (spans []Span) {
	if c.Ptr("modifiers.first") != 0 || c.Int("extend") == extendsLinearly || f.GoneIn(records.InOthers, "BezTriple") {
		return nil
	}
	from, kind, high := float64(-farFrame), curveConstant, 0.0
	end := func(at, most float64) {
		spans = append(spans, Span{From: from, To: at, Most: clampSamples(most)})
		from = at
	}
	var right float64 // the handle after the last key
	for key := range c.Follow("bezt", "BezTriple").All() {
		v := key.Floats("vec") // of handle, key, handle: each x, y, z
		if len(v) != 9 {
			return nil
		}
		value, at := v[4], v[3]/length
		switch {
		case len(spans) == 0:
			high = value // constant before the first key
		case kind == curveConstant:
		case kind == curveBezier:
			high = max(high, right, v[1], value)
		case kind == curveBack, kind == curveElastic:
			return nil
		default:
			high = max(high, value)
		}
		end(at, high)
		kind, high, right = key.Int("ipo"), value, v[7]
	}
	if len(spans) == 0 {
		return nil
	}
	end(farFrame, high)
	return spans
}

// clampSamples is a curve's value as Blender sets it, rounded up.
func clampSamples(v float64) int { return int(math.Max(1, math.Min(math.Ceil(v), maxSamples))) }
