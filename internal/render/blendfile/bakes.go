package blendfile

import "svc.example/internal/render/blendfile/records"

// bakes adds the folders that simulations were baked to, and those that they write while
// they run, which is no bake.
func (f *file) bakes(add adder) {
	listed := map[at]bool{}
	for _, s := range f.sims {
		ref := add(s.by, KindSimulation, s.Folder, false)
		switch {
		case s.Folder == "":
		case s.Kind == Fluid:
			ref.Bake = fluidFolders(true)
			listed[placeOf(s.by)] = true
		case s.Kind == NodeZone:
			ref.Bake = &Bake{Numbers: true}
			listed[placeOf(s.by)] = true
		case s.cache != nil:
			ref.Bake = cacheFolder(*s.cache)
			listed[placeOf(*s.cache)] = true
		}
	}
	aside := func(r records.Record, folder string, bake *Bake) {
		if folder != "" && !listed[placeOf(r)] {
			ref := add(r, KindSimulation, folder, false)
			ref.Bake, ref.aside, ref.Level = bake, true, min(ref.Level, Computed)
		}
	}
	for r := range f.Everywhere("FluidDomainSettings") {
		aside(r, r.Text("cache_directory"), fluidFolders(false))
	}
	dropped := f.smokeCaches()
	for r := range f.Everywhere("PointCache") {
		switch flag := r.Int("flag"); {
		case dropped[placeOf(r)]:
		case flag&cacheExternal != 0:
			aside(r, r.Text("path"), cacheFolder(r))
		case flag&cacheOnDisk != 0:
			aside(r, DiskCache, cacheFolder(r))
		}
	}
	for r := range f.Everywhere("NodesModifierData") {
		for _, member := range []string{"bake_directory", "simulation_bake_directory"} {
			aside(r, f.pointedText(r, member), &Bake{Numbers: true})
		}
	}
	for r := range f.Everywhere("NodesModifierBake") {
		for b := range r.Each() {
			aside(b, f.pointedText(b, "directory"), &Bake{Folders: []string{"blobs", "meta"}})
		}
	}
}

// pointedText is a text of free length.
func (f *file) pointedText(r records.Record, member string) string {
	return records.CString(f.Raw(r, r.Ptr(member)))
}

// fluidFolders are the files of a fluid's cache: all that Blender makes in its folder.
func fluidFolders(baked bool) *Bake {
	return &Bake{Folders: []string{"config", "data", "guiding", "mesh", "noise", "particles", "script"}, Baked: baked}
}

// cacheFolder is the files of a point cache. In the folder that Blender names they are all
// files, in one that a person names those that begin with the cache's name.
func cacheFolder(c records.Record) *Bake {
	flag := c.Int("flag")
	b := &Bake{OfMain: flag&cacheOfMain != 0, Prefixes: []string{c.Text("name") + "_"}, Baked: true}
	if flag&cacheExternal == 0 {
		b.Implied, b.Prefixes, b.Baked = true, []string{""}, flag&cacheBaked != 0
	}
	return b
}

// smokeCaches are the caches of smoke from before 2.82, which no later Blender reads.
func (f *file) smokeCaches() map[at]bool {
	dropped := map[at]bool{}
	for r := range f.Everywhere("SmokeDomainSettings") {
		for _, addr := range append(r.Ptrs("point_cache"), r.Ptr("ptcaches.first")) {
			dropped[at{r.Owner(), addr}] = true
		}
	}
	return dropped
}
