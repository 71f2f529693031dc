package corpus

import (
	"fmt"
	"strings"
)

// Table prints rows as Markdown: a line for each scene, and below it in words which
// frames differ.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| scene | shows | frames | by hand, twice | " + strings.Join(Orders[:], " | ") + " | warnings |\n|---|---|---|---|" + strings.Repeat("---|", len(Orders)) + "---|\n")
	for _, r := range rows {
		s := r.Scene
		if s.Missing != "" {
			fmt.Fprintf(&b, "| `%s` | %s | none: %s |%s\n", s.Name, cell(s.About), cell(s.Missing), strings.Repeat(" |", len(Orders)+2))
			continue
		}
		frames := fmt.Sprintf("%d to %d", s.Start, s.End)
		if s.Step != 1 {
			frames += fmt.Sprintf(", every %d", s.Step)
		}
		if r.Problem != nil {
			fmt.Fprintf(&b, "| `%s` | %s | %s | not compared: %s |%s\n", s.Name, cell(s.About), frames, cell(r.Problem.Error()), strings.Repeat(" |", len(Orders)+1))
			continue
		}
		steady := "equal"
		if len(r.Unsteady) > 0 {
			steady = "differ: " + numbers(r.Unsteady)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |", s.Name, cell(s.About), frames, steady)
		for _, order := range Orders {
			fmt.Fprintf(&b, " %s |", r.Outcomes[order])
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(quoted(r.Warnings), " "))
	}
	return b.String()
}

// String is an outcome in a cell.
func (o Outcome) String() string {
	switch {
	case o.Problem != nil:
		return "failed: " + cell(o.Problem.Error())
	case o.Equal():
		return "equal"
	default:
		return fmt.Sprintf("%d of %d differ: %s", len(o.Differ), o.Frames, numbers(o.Differ))
	}
}

// Summary counts rows, and names those that are not as they should be and those that
// cannot be equal.
func Summary(rows []Row) string {
	var b strings.Builder
	var equal, missing int
	var known, wrong, dull []string
	for _, r := range rows {
		switch {
		case r.Scene.Missing != "":
			missing++
		case r.Equal():
			equal++
			if !r.Lively && r.Scene.Name != "still" && r.Scene.Kind != "file" {
				dull = append(dull, r.Scene.Name)
			}
		case r.Sound():
			known = append(known, fmt.Sprintf("- `%s`: %s", r.Scene.Name, r.Scene.Why))
		default:
			wrong = append(wrong, r.Scene.Name)
		}
	}
	fmt.Fprintf(&b, "%d of %d scenes are equal in every frame of every order.", equal, len(rows)-missing)
	if missing > 0 {
		fmt.Fprintf(&b, " %d could not be made or opened.", missing)
	}
	b.WriteString("\n")
	if len(known) > 0 {
		b.WriteString("\nThese cannot be equal:\n\n" + strings.Join(known, "\n") + "\n")
	}
	if len(wrong) > 0 {
		b.WriteString("\nThese should be equal and are not: " + strings.Join(quoted(wrong), ", ") + ".\n")
	}
	if len(dull) > 0 {
		b.WriteString("\nAll frames of these are one picture, so they show nothing: " + strings.Join(quoted(dull), ", ") + ".\n")
	}
	return b.String()
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
