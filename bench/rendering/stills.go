package rendering

import (
	"context"
	"errors"
	"fmt"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/strips"
)

// stillScene is a scene with much more to compute in its lower half: samples, frames and size.
var stillScene = []string{"96", "2", "640", "360"}

// Stills computes how much sooner a picture is there if each of its strips has a worker of its
// own: the slowest strip compared with the whole picture. The strips are rendered one after the
// other, so that each has all of this machine; handing them out and finishing is not in it.
func Stills() rounds.Group {
	const whole = "the whole picture"
	row := func(name string, goal rounds.Goal) rounds.Row {
		return rounds.Row{Name: name, Unit: rounds.Duration, Baseline: whole, Goal: goal, Note: "computed: the slowest strip; 640x360, 96 samples, on the CPU"}
	}
	return rounds.Group{
		Rows: []rounds.Row{
			row(rowStill(4, false), rounds.Goal{}), row(rowStill(4, true), rounds.RatioAtMost(1/3.2)),
			row(rowStill(8, false), rounds.Goal{}), row(rowStill(8, true), rounds.RatioAtMost(1.0/5)),
		},
		Measure: measureStills,
	}
}

func rowStill(k int, measured bool) string {
	if measured {
		return fmt.Sprintf("stills/%d strips, by what the preview's bands took", k)
	}
	return fmt.Sprintf("stills/%d strips, equally high", k)
}

func measureStills(ctx context.Context, b *rounds.Run, into rounds.Record) error {
	path, err := b.Scene(ctx, "still.blend", "render_light.py", stillScene...)
	if err != nil {
		return err
	}
	return b.Rounds(ctx, into, func(r rounds.Record) (err error) {
		bands, err := bandsOf(ctx, b, path)
		if err != nil {
			return err
		}
		p, opened, err := openStill(ctx, b, path, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		whole, err := p.Render(ctx, 1, nil)
		if err != nil {
			return err
		}
		for _, k := range []int{4, 8} {
			for _, cost := range [][]float64{nil, bands} {
				slowest := 0.0
				for _, rows := range strips.Cut(opened.Rows, k, cost, 0) {
					held := rows.Wider(strips.Overlap, opened.Rows)
					f, err := p.Strip(ctx, 1, held.From, held.To, nil)
					if err != nil {
						return err
					}
					slowest = max(slowest, f.Seconds)
				}
				r.Add(rowStill(k, cost != nil), slowest, whole.Seconds)
			}
		}
		return nil
	})
}

// bandsOf measures the bands of a scene's preview.
func bandsOf(ctx context.Context, b *rounds.Run, path string) (bands []float64, err error) {
	p, _, err := openStill(ctx, b, path, &blender.Preview{Side: contract.PreviewSide, Samples: contract.PreviewSamples})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if _, err = p.Render(ctx, 1, nil); err != nil {
		return nil, err
	}
	return p.Bands(ctx, 1, strips.MostBands)
}

func openStill(ctx context.Context, b *rounds.Run, path string, small *blender.Preview) (p *blender.Process, opened blender.Opened, err error) {
	dir, err := b.Dir("still-")
	if err != nil {
		return nil, opened, err
	}
	if p, err = blender.Start(ctx, blender.Options{Path: b.Blender, Temp: dir, Out: dir, Device: blender.CPU}); err != nil {
		return nil, opened, err
	}
	in := blender.SingleFile(path)
	in.Preview = small
	if opened, err = p.Open(ctx, in); err != nil {
		return nil, opened, errors.Join(err, p.Close())
	}
	return p, opened, nil
}
