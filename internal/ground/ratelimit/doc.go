// Package ratelimit decides how many requests a client may make, and all clients of
// a workspace together: a burst at once, then a steady rate. The rule is GCRA: one
// stored time for each client and each workspace, the time at which everything that
// it has sent so far would have been earned.
//
// What always holds: the decision is a pure function of these stored times and the
// time of the request. All processes over one database share one count, which is
// exact in the long run (Counter says how far it may lag behind for a moment). A
// refused request costs nothing.
//
// Package front writes headers and refusals. Start reading at Policy.Decide, then
// Counter.
package ratelimit
