package blendfile

import (
	"maps"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

// Simulation is state that runs from frame to frame: what it shows in a frame follows
// from the frames before, unless it is baked.
type Simulation struct {
	Kind  SimulationKind `json:"kind"`
	Owner string         `json:"owner"` // name of the object
	// FirstFrame and LastFrame are its own range; both 0 where it has none.
	FirstFrame int `json:"first_frame"`
	LastFrame  int `json:"last_frame"`
	// Baked means that Blender reads each frame from a bake and computes none, also where
	// the bake is gone.
	Baked bool `json:"baked"`
	// Cached means that each frame that the scene renders is stored in the file, though
	// without a bake. Blender reads those, too.
	Cached bool `json:"cached"`
	// Folder is what it was baked to, as written, or DiskCache; "" for the file itself.
	Folder string `json:"folder"`
	// From is the path of the library that has the object; "" for the file itself.
	From string `json:"from,omitempty"`

	cache *records.Record // its point cache
}

// DiskCache is the folder that Blender itself names: the star stands for the name of the
// file without .blend.
const DiskCache = "//blendcache_*"

// SimulationKind is what Blender calls a simulation.
type SimulationKind string

// The kinds of simulations.
const (
	Cloth        SimulationKind = "cloth"
	SoftBody     SimulationKind = "soft_body"
	RigidBody    SimulationKind = "rigid_body"
	Particles    SimulationKind = "particles"
	HairDynamics SimulationKind = "hair_dynamics"
	DynamicPaint SimulationKind = "dynamic_paint"
	Fluid        SimulationKind = "fluid" // liquid, smoke and fire
	NodeZone     SimulationKind = "simulation_nodes"
)

// found is a simulation and the struct that it was found by.
type found struct {
	Simulation
	by records.Record
}

const modifierRenders = 1 << 1 // ModifierData.mode

// simulations finds what runs from frame to frame when the active scene is rendered, to its
// last frame. Smoke and fluids of before 2.82 are none: no Blender that svc knows loads them.
func (f *file) simulations(lastFrame int) (all []found) {
	add := func(s Simulation, by records.Record) {
		if s.Owner == "" {
			s.Owner = f.OwnerName(by)
		}
		if !f.spend(len(s.Owner) + len(s.Folder)) {
			f.Lost["Simulation"] = true
			return
		}
		all = append(all, found{s, by})
	}
	f.lastFrame = lastFrame
	// If anything that follows is given up, this list is incomplete.
	before := maps.Clone(f.Lost)
	defer func() {
		for as := range f.Lost {
			if !before[as] {
				delete(f.Lost, as)
				f.Lost["Simulation"] = true
			}
		}
	}()
	hair := f.particleSystems(add)
	for _, m := range f.running("ClothModifierData") {
		if !hair[placeOf(m)] {
			add(f.cachedAs(Cloth, m, "point_cache"), m)
		}
	}
	f.softBodies(add)
	f.rigidBodies(add)
	f.paintCanvases(add)
	f.fluidDomains(add)
	f.nodeZones(add)
	return all
}

// simulationFacts lists the simulations without where they were found.
func (f *file) simulationFacts() []Simulation {
	all := make([]Simulation, 0, len(f.sims))
	for _, s := range f.sims {
		s.cache = nil // it holds the file's memory
		all = append(all, s.Simulation)
	}
	return all
}

// finder adds a simulation; its owner may be left to the struct's data-block.
type finder func(s Simulation, by records.Record)

// running lists the modifiers of a struct that are computed for the picture.
func (f *file) running(as string) (all []records.Record) {
	for m := range f.Everywhere(as) {
		if m.Int("modifier.mode")&modifierRenders != 0 && f.reach.Shown(m) {
			all = append(all, m)
		}
	}
	return all
}

// at is an address within a data-block.
type at struct {
	owner uint32
	addr  uint64
}

func placeOf(r records.Record) at { return at{r.Owner(), r.Addr()} }

// Members of ParticleSettings and ParticleSystem.
const (
	particlesHair   = 2 // type; the others but 0 are a fluid's, which has their state
	particlesStill  = 0 // phystype: they stay where they are born
	particlesKeyed  = 2 // phystype: they go from one system's place to another's
	particlesUnseen = 0 // ren_as

	systemHairMoves = 1 << 2 // ParticleSystem.flag
	systemHasHair   = 1 << 9
)

// particleSystems finds those whose particles or hairs move by physics. It returns the
// cloth of all hairs: that is no modifier of the object.
func (f *file) particleSystems(add finder) (cloth map[at]bool) {
	cloth, running := map[at]bool{}, map[at]bool{}
	for _, m := range f.running("ParticleSystemModifierData") {
		running[at{m.Owner(), m.Ptr("psys")}] = true
	}
	others := f.particlesAreUsed()
	for s := range f.Everywhere("ParticleSystem") {
		if addr := s.Ptr("clmd"); addr != 0 {
			cloth[at{s.Owner(), addr}] = true
		}
		if !running[placeOf(s)] {
			continue
		}
		kind := Particles
		switch p, flag := f.particleSettings(s.Ptr("part")), s.Int("flag"); {
		case flag&systemHairMoves != 0 && (!p.OK() || p.Int("type") == particlesHair):
			kind = HairDynamics
		case !p.OK() && flag&systemHasHair != 0, p.Int("type") != 0:
			continue
		case p.OK() && (p.Int("phystype") == particlesStill || p.Int("phystype") == particlesKeyed):
			continue
		case p.OK() && p.Int("ren_as") == particlesUnseen && !others:
			continue
		}
		add(f.cachedAs(kind, s, "pointcache"), s)
	}
	return cloth
}

// particleSettings is empty for settings in a library.
func (f *file) particleSettings(addr uint64) records.Record {
	ordinal, ok := f.reach.At(addr)
	if !ok {
		return records.Record{}
	}
	return f.Head(ordinal, "ParticleSettings")
}

// particlesAreUsed reports whether particles that are not rendered may do something else.
func (f *file) particlesAreUsed() bool {
	for _, as := range []string{"ExplodeModifierData", "ParticleInstanceModifierData", "ParticleTarget"} {
		for range f.Everywhere(as) {
			return true
		}
	}
	for _, as := range []string{"DynamicPaintBrushSettings", "FluidFlowSettings"} {
		for r := range f.Everywhere(as) {
			if r.Ptr("psys") != 0 {
				return true
			}
		}
	}
	return false
}

func (f *file) softBodies(add finder) {
	running := map[uint32]bool{}
	for _, m := range f.running("SoftbodyModifierData") {
		running[m.Owner()] = true
	}
	for b := range f.Everywhere("SoftBody") {
		if running[b.Owner()] {
			add(f.cachedAs(SoftBody, f.shared(b, "SoftBody_Shared"), "pointcache"), b)
		}
	}
}

// shared is the part of a struct that its copies share, which has the cache since 2.80;
// before, the struct itself has it.
func (f *file) shared(r records.Record, as string) records.Record {
	if r.Ptr("shared") == 0 || f.Gone(r, as) {
		return r
	}
	return r.Follow("shared", as)
}

const (
	surfaceActive   = 1 << 0 // DynamicPaintSurface.flags
	surfaceVertices = 1      // DynamicPaintSurface.format; image sequences are written by a bake only
)

func (f *file) paintCanvases(add finder) {
	for _, m := range f.running("DynamicPaintModifierData") {
		if f.Gone(m, "DynamicPaintCanvasSettings", "DynamicPaintSurface") {
			return
		}
		for s := range m.Follow("canvas", "DynamicPaintCanvasSettings").List("surfaces", "DynamicPaintSurface") {
			if s.Int("flags")&surfaceActive != 0 && s.Int("format") == surfaceVertices {
				add(f.cachedAs(DynamicPaint, s, "pointcache"), s)
			}
		}
	}
}

const (
	fluidDomain = 1 << 0 // FluidModifierData.type
	fluidReplay = 0      // FluidDomainSettings.cache_type: computed while frames pass
	// FluidDomainSettings.cache_flag: data, noise, mesh, particles or guiding
	// are baked. Without, there is a folder's name but nothing in the folder.
	fluidBaked = 1<<1 | 1<<3 | 1<<5 | 1<<7 | 1<<9
)

// fluidDomains finds the domains that run or are baked. One that waits for a bake shows
// nothing, in any frame.
func (f *file) fluidDomains(add finder) {
	for _, m := range f.running("FluidModifierData") {
		if m.Int("type")&fluidDomain == 0 || f.Gone(m, "FluidDomainSettings") {
			continue
		}
		d := m.Follow("domain", "FluidDomainSettings")
		s := Simulation{Kind: Fluid, FirstFrame: d.Int("cache_frame_start"), LastFrame: d.Int("cache_frame_end")}
		if d.Int("cache_flag")&fluidBaked != 0 {
			s.Baked, s.Folder = true, d.Text("cache_directory")
		}
		if d.OK() && (s.Baked || d.Int("cache_type") == fluidReplay) {
			add(s, d)
		}
	}
}

const zoneOutput = "GeometryNodeSimulationOutput" // bNode.idname

// nodeZones finds the objects whose geometry nodes have simulation zones.
func (f *file) nodeZones(add finder) {
	zones := map[uint32]int{} // by node tree
	for n := range f.InTrees("bNode") {
		if n.Text("idname") == zoneOutput && n.Int("flag")&reach.NodeMuted == 0 && f.reach.NodeUsed(n, n.Text("name")) {
			zones[n.Owner()]++
		}
	}
	if len(zones) == 0 {
		return
	}
	packed := map[uint32]int{} // bakes in the file, by object
	for b := range f.Everywhere("NodesModifierPackedBake") {
		packed[b.Owner()]++
	}
	for _, m := range f.running("NodesModifierData") {
		n := f.zonesIn(m, zones)
		if n == 0 {
			continue
		}
		s := Simulation{Kind: NodeZone, Baked: packed[m.Owner()] >= n}
		for _, member := range []string{"bake_directory", "simulation_bake_directory"} {
			if !s.Baked && s.Folder == "" {
				s.Folder = records.CString(f.Raw(m, m.Ptr(member)))
			}
		}
		add(s, m)
	}
}

// zonesIn counts the zones of a modifier's node tree and the trees in it.
func (f *file) zonesIn(m records.Record, zones map[uint32]int) (n int) {
	if f.reach == nil { // whose zones they are is not known
		return len(zones)
	}
	tree, ok := f.reach.At(m.Ptr("node_group"))
	if !ok {
		return 0
	}
	seen, open := map[uint32]bool{}, []uint32{tree}
	for len(open) > 0 {
		tree, open = open[len(open)-1], open[:len(open)-1]
		if seen[tree] {
			continue
		}
		seen[tree] = true
		n += zones[tree]
		for inner := range f.reach.Leads(tree, "NT") {
			open = append(open, inner)
		}
	}
	return n
}

// Bits of PointCache.flag.
const (
	cacheBaked    = 1 << 0
	cacheOutdated = 1 << 1
	cacheOnDisk   = 1 << 6
	cacheExternal = 1 << 9
	cacheOfMain   = 1 << 11 // on disk next to the main file, also for an object of a library
)

// cachedAs describes a simulation by its point cache, the member path of r.
func (f *file) cachedAs(kind SimulationKind, r records.Record, path string) Simulation {
	s := Simulation{Kind: kind}
	if !r.OK() || f.Gone(r, "PointCache") {
		return s
	}
	c := r.Follow(path, "PointCache")
	s.cache = &c
	s.FirstFrame, s.LastFrame = c.Int("startframe"), c.Int("endframe")
	switch flag := c.Int("flag"); {
	case flag&cacheExternal != 0:
		s.Baked, s.Folder = true, c.Text("path")
	case flag&cacheBaked != 0:
		s.Baked = true
		if flag&cacheOnDisk != 0 {
			s.Folder = DiskCache
		}
	case flag&(cacheOnDisk|cacheOutdated) == 0 && !f.Gone(c, "PTCacheMem"):
		s.Cached = f.wholeCache(c, s)
	}
	return s
}

// wholeCache reports whether a cache in memory has each frame that the scene renders.
func (f *file) wholeCache(c records.Record, s Simulation) bool {
	frames := map[int]bool{}
	for m := range c.List("mem_cache", "PTCacheMem") {
		frames[m.Int("frame")] = true
	}
	last := min(s.LastFrame, f.lastFrame)
	if len(frames) == 0 || last-s.FirstFrame >= len(frames) {
		return false
	}
	for n := s.FirstFrame; n <= last; n++ {
		if !frames[n] {
			return false
		}
	}
	return true
}
