package blendfile

import (
	"iter"
	"maps"
	"slices"

	"svc.example/internal/render/blendfile/records"
)

const (
	worldMuted    = 1 << 0 // RigidBodyWorld.flag
	bodyActive    = 0      // RigidBodyOb.type
	bodyKinematic = 1 << 0 // RigidBodyOb.flag: it is moved by animation
)

// worlds yields the rigid body worlds of the rendered scenes that move something.
func (f *file) worlds() iter.Seq[records.Record] {
	return func(yield func(records.Record) bool) {
		for scene := range f.Facts("SC", "Scene") {
			world := scene.Follow("rigidbody_world", "RigidBodyWorld")
			if !f.reach.Renders(scene) || world.Ptr("group") == 0 || world.Int("flag")&worldMuted != 0 {
				continue
			}
			if !yield(world) {
				return
			}
		}
	}
}

// worldAs describes a world's simulation, without an object.
func (f *file) worldAs(world records.Record) Simulation {
	return f.cachedAs(RigidBody, f.shared(world, "RigidBodyWorld_Shared"), "pointcache")
}

// rigidBodies finds the objects that the worlds of the rendered scenes move, and of those
// that worlds of other files move the ones of this file.
func (f *file) rigidBodies(add finder) {
	for world := range f.worlds() {
		s := f.worldAs(world)
		for body := range f.movable() {
			add(s, body)
		}
	}
	if len(f.moved) == 0 {
		return
	}
	members := f.movedFromOutside()
	for body := range f.movable() {
		if s, ok := members[body.Owner()]; ok {
			add(s, body)
		}
	}
}

// movable yields the rigid bodies of the picture that a world can move.
func (f *file) movable() iter.Seq[records.Record] {
	return func(yield func(records.Record) bool) {
		for body := range f.Everywhere("RigidBodyOb") {
			if body.Int("type") == bodyActive && body.Int("flag")&bodyKinematic == 0 && f.reach.Shown(body) && !yield(body) {
				return
			}
		}
	}
}

// movedFromOutside are the data-blocks that worlds of other files move, each with its
// world's simulation.
func (f *file) movedFromOutside() map[uint32]Simulation {
	members := map[uint32]Simulation{}
	for _, name := range slices.Sorted(maps.Keys(f.moved)) {
		if at, ok := f.reach.Named(name); ok {
			f.join(members, at, f.moved[name])
		}
	}
	return members
}

// movedHere are the data-blocks that worlds move, each with its world's simulation; those
// that stand for data of libraries among them.
func (f *file) movedHere() map[uint32]Simulation {
	members := f.movedFromOutside()
	for world := range f.worlds() {
		if at, ok := f.reach.At(world.Ptr("group")); ok {
			s := f.worldAs(world)
			s.cache = nil // it holds the file's memory
			f.join(members, at, s)
		}
	}
	return members
}

// join adds a data-block and, of a collection, all that is in it.
func (f *file) join(members map[uint32]Simulation, at uint32, s Simulation) {
	open := []uint32{at}
	for len(open) > 0 {
		at, open = open[len(open)-1], open[:len(open)-1]
		if _, known := members[at]; known {
			continue
		}
		members[at] = s
		if f.reach.Code(at) != "GR" {
			continue
		}
		for _, code := range []string{"OB", "GR"} {
			for inner := range f.reach.Leads(at, code) {
				open = append(open, inner)
			}
		}
	}
}
