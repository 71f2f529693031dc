package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
)

// PrintStart prints what svc says without a command: what it does and what to type first,
// on one screen. columns is as in PrintHelp.
func PrintStart(w io.Writer, columns int) {
	h := help{w, columns}
	if columns == 0 {
		h.width = widthOfHelp
	}
	h.paragraph("svc renders Blender Cycles scenes at a locked price and proves what it did.")
	h.list("Try it on this machine:", [][2]string{
		{"svc demo", "Render a sample scene, from price to verified receipt."},
	})
	h.list("Render your own scene:", [][2]string{
		{"svc login --server URL", "Sign in to a service."},
		{"svc look scene.blend", "Render a free test frame."},
		{"svc render scene.blend", "See the price, confirm it, and get the frames."},
	})
	h.list("Check a result:", [][2]string{
		{"svc verify out", "Check the frames and the signed receipt in a folder."},
	})
	h.list("Run a service:", [][2]string{
		{"svc serve --dev", "Start one here, with any Blender and any device."},
		{"svc worker doctor", "Check that this machine can render."},
	})
	h.paragraph("")
	h.paragraph("All commands: svc help. One command: svc help COMMAND")
}

// HelpCommand is svc help [COMMAND…].
type HelpCommand struct {
	Words []string `arg:"" optional:"" name:"command" help:"The command, such as render or admin key create. Without it, the list of all commands."`
}

// Run prints what --help prints for the command.
func (c *HelpCommand) Run(k *kong.Context) error {
	n := k.Model.Node
	for i, word := range c.Words {
		child := childOf(n, word)
		if child == nil {
			return terminal.WrongUsagef("there is no command %q; svc help lists all commands", strings.Join(c.Words[:i+1], " "))
		}
		n = child
	}
	PrintHelp(k.Stdout, k.Model, n, terminal.Width(k.Stdout))
	return nil
}

// childOf returns the command of that name or alias below n.
func childOf(n *kong.Node, word string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == word || slices.Contains(child.Aliases, word) {
			return child
		}
	}
	return nil
}

// group is values under a common title.
type group struct {
	title string
	all   []value
}

// other is the title of flags that name no group.
const other = "Other"

// groupOrder has the titles of groups, in the order of the help.
func groupOrder() []string {
	return []string{
		"Common", "Storage", "Rendering", "Limits", "Sign-in", "Payments", "Webhooks", "Receipts and log", "Retention", "Test mode", "Start, stop and monitoring", other,
	}
}

// groupFrom is the number of flags from which a command's flags are shown in groups.
const groupFrom = 20

// grouped sorts flags into their groups. Those of a command with few flags are one group
// without a title.
func grouped(all []value) (groups []group) {
	if len(all) < groupFrom || !slices.ContainsFunc(all, func(v value) bool { return v.group != "" }) {
		return []group{{"", all}}
	}
	for _, title := range groupOrder() {
		g := group{title: title}
		for _, v := range all {
			if v.group == title || v.group == "" && title == other {
				g.all = append(g.all, v)
			}
		}
		if len(g.all) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// commandGroups are the program's own commands under common titles, in the order in which
// the program declares them.
func commandGroups(app *kong.Node) (titles []string, rows map[string][][2]string) {
	rows = map[string][][2]string{}
	for _, c := range app.Children {
		if c.Hidden {
			continue
		}
		title := other
		if c.Group != nil {
			title = c.Group.Title
		}
		if rows[title] == nil {
			titles = append(titles, title)
		}
		text := c.Help
		if !c.Leaf() {
			text += fmt.Sprintf(" See: svc help %s.", c.Name)
		}
		rows[title] = append(rows[title], [2]string{c.Name, text})
	}
	return titles, rows
}
