package operator

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/reuse"
)

// reuseList is svc admin reuse list.
type reuseList struct{ viewFlags }

// Run lists the classes of workers of which reused frames were compared.
func (c *reuseList) Run(k *kong.Context) error {
	answer := operator.ReuseList{OK: true}
	err := c.view("/reuse", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Classes, err = reuse.Standings(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Classes) == 0 {
		terminal.Printf(k.Stdout, "no reused frame was rendered again yet")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "CLASS"}, terminal.Column{Title: "DEVICE", Cut: true}, terminal.Column{Title: "BLENDER", Spare: 1},
		terminal.Column{Title: "SAME"}, terminal.Column{Title: "DIFFERENT"}, terminal.Column{Title: "REUSE"})
	for _, s := range answer.Classes {
		state := "on"
		if s.OffAt != nil {
			state = "off since " + s.OffAt.Format(time.DateTime)
		}
		list.Row(s.ClassID, s.DeviceName, s.BlenderVersion, strconv.FormatInt(s.Agreed, 10), strconv.FormatInt(s.Differed, 10), state)
	}
	list.Print(k.Stdout)
	return nil
}

// reuseReset is svc admin reuse reset.
type reuseReset struct {
	actFlags
	Class string `arg:"" help:"Class id."`
}

// Run switches reuse on for a class. Error: reuse_class_not_found.
func (c *reuseReset) Run(k *kong.Context) error {
	route := call{method: http.MethodPost, path: "/reuse" + part(c.Class) + "/reset"}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.ResetReuse(ctx, tx, c.Class)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"class_id", c.Class}, field{"reuse", "on"})
}
