//go:build race

package long

// Race reports whether the race detector watches. It makes SQLite, which is Go code here,
// twenty times slower: what only repeats a rule more often, with nothing at once, takes a
// part of the full size under it, and `make test-long` runs it once more without.
const Race = true
