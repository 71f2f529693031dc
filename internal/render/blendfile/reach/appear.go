package reach

import "svc.example/internal/render/blendfile/records"

// appears reports whether an animation may show a hidden object at some frame: its drivers,
// or an action that it uses, itself or in strips. What a library holds may.
func (w *Set) appears(ordinal uint32) bool {
	w.findFades()
	if w.fades[ordinal] || w.f.Lost["FCurve"] {
		return true
	}
	for _, e := range w.g.of(ordinal) {
		if _, elsewhere := w.g.linked[e.to]; w.g.code(e.to) == "AC" && (elsewhere || w.fades[e.to]) {
			return true
		}
	}
	return false
}

// findFades notes which data-blocks hold curves of visibility in renders.
func (w *Set) findFades() {
	if w.fades != nil {
		return
	}
	w.fades = map[uint32]bool{}
	for c := range w.f.Everywhere("FCurve") {
		if records.CString(w.f.Raw(c, c.Ptr("rna_path"))) == "hide_render" {
			w.fades[c.Owner()] = true
		}
	}
}
