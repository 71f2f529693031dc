package corpus

import (
	"fmt"
	"strings"
)

// Table prints rows as Markdown: a line for each scene, and which frames differ.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| scene | shows | frames | " + strings.Join(Orders[:], " | ") + " | warnings |\n|---|---|---|" + strings.Repeat("---|", len(Orders)) + "---|\n")
	for _, r := range rows {
		s := r.Scene
		if s.Missing != "" {
			fmt.Fprintf(&b, "| `%s` | %s | none: %s |%s\n", s.Name, cell(s.About), cell(s.Missing), strings.Repeat(" |", len(Orders)+1))
			continue
		}
		frames := fmt.Sprintf("%d to %d", s.Start, s.End)
		if s.Step != 1 {
			frames += fmt.Sprintf(", every %d", s.Step)
		}
		if r.Problem != "" {
			fmt.Fprintf(&b, "| `%s` | %s | %s | not compared: %s |%s\n", s.Name, cell(s.About), frames, cell(r.Problem), strings.Repeat(" |", len(Orders)))
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |", s.Name, cell(s.About), frames)
		for _, order := range Orders {
			fmt.Fprintf(&b, " %s |", r.cell(order))
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(quoted(r.Warnings), " "))
	}
	return b.String()
}

// cell is an order's outcome in the table.
func (r Row) cell(order string) string {
	switch o := r.Outcomes[order]; {
	case o.Problem != "":
		return "failed: " + cell(o.Problem)
	case !o.Equal():
		return fmt.Sprintf("%d of %d differ: %s", len(o.Differ), o.Frames, numbers(o.Differ))
	case len(r.Beside) > 0:
		return "equal to the .blend alone"
	default:
		return "equal"
	}
}

// Summary counts rows, and names those that are not as they should be and those that
// cannot be equal.
func Summary(rows []Row) string {
	var b strings.Builder
	var equal, missing, frames, kills, files int
	var known, beside, wrong, dull []string
	for _, r := range rows {
		s := r.Scene
		kills += r.Kills
		files += r.Written
		for _, o := range r.Outcomes {
			frames += o.Frames
		}
		switch {
		case s.Missing != "":
			missing++
		case r.Equal():
			equal++
			if !r.Lively && s.Name != "still" && s.Kind != "file" && s.Kind != "project" {
				dull = append(dull, s.Name)
			}
		case r.Sound() && len(r.Beside) > 0:
			beside = append(beside, s.Name)
		case r.Sound():
			why := s.Why
			if len(r.Unsteady) > 0 {
				why += fmt.Sprintf("; two runs of Blender differ in the frames %s", numbers(r.Unsteady))
			}
			known = append(known, fmt.Sprintf("- `%s`: %s.", s.Name, why))
		default:
			wrong = append(wrong, "`"+s.Name+"`"+r.trouble())
		}
	}
	fmt.Fprintf(&b, "%d of %d scenes are equal in every frame of every order: %d frames of the service, and %d workers and Blenders that were killed meanwhile.", equal, len(rows)-missing, frames, kills)
	if files > 0 {
		fmt.Fprintf(&b, " File Output nodes write %d files next to the frames.", files)
	}
	if missing > 0 {
		fmt.Fprintf(&b, " %d more could not be compared: this Blender cannot make or open them, or does not render them with Cycles.", missing)
	}
	b.WriteString("\n")
	if len(beside) > 0 {
		b.WriteString("\nThese need files that were not sent, and their warnings say so; they are equal to what Blender renders of the .blend alone: " + strings.Join(quoted(beside), ", ") + ".\n")
	}
	if len(known) > 0 {
		b.WriteString("\nThese cannot be equal:\n\n" + strings.Join(known, "\n") + "\n")
	}
	if len(wrong) > 0 {
		b.WriteString("\nThese should be equal and are not: " + strings.Join(wrong, ", ") + ".\n")
	}
	if len(dull) > 0 {
		b.WriteString("\nAll frames of these are one picture, so they show nothing of how frames depend on each other: " + strings.Join(quoted(dull), ", ") + ".\n")
	}
	return b.String()
}

// trouble says in brackets what is known of a row that is not as it should be.
func (r Row) trouble() string {
	switch {
	case r.Problem != "":
		return " (" + cell(r.Problem) + ")"
	case len(r.Beside) > 0:
		return " (it needs files that were not sent, and no warning says so)"
	case len(r.Unsteady) > 0:
		return fmt.Sprintf(" (two runs of Blender differ in the frames %s)", numbers(r.Unsteady))
	}
	return ""
}

func quoted(names []string) (all []string) {
	for _, n := range names {
		all = append(all, "`"+n+"`")
	}
	return all
}

// cell makes text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}

// numbers writes frames as ranges: 1-3, 7.
func numbers(frames []int) string {
	var parts []string
	for i := 0; i < len(frames); i++ {
		first := i
		for i+1 < len(frames) && frames[i+1] == frames[i]+1 {
			i++
		}
		if first == i {
			parts = append(parts, fmt.Sprint(frames[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", frames[first], frames[i]))
		}
	}
	return strings.Join(parts, ", ")
}
