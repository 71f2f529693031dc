package reach

// layerCount counts the view layers whose objects are rendered: those with a material that
// replaces all materials of their objects, and the others.
type layerCount struct{ overriding, plain int }

func (c *layerCount) count(overrides bool) {
	if overrides {
		c.overriding++
	} else {
		c.plain++
	}
}

// geometry is the codes of what has materials that a view layer can replace.
const geometry = " OB ME CU CV MB PT VO "

// overridden reports whether an edge leads to a material that no layer shows.
func (w *Set) overridden(e edge) bool {
	return w.drawn.overriding > 0 && w.drawn.plain == 0 && w.g.code(e.to) == "MA" && among(w.g.code(e.from), geometry)
}

// showReplaced sees the replaced materials once a layer is known that shows them: a node
// can take one in after its objects were walked.
func (w *Set) showReplaced() {
	if w.drawn.plain == 0 {
		return
	}
	for _, e := range w.replaced {
		w.whole(e.from, e.to)
	}
	w.replaced = nil
}
