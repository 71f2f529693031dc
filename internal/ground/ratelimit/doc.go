// Package ratelimit decides how many requests a client may make: a burst at once,
// then a steady rate. The rule is GCRA: one stored time for each client, the time
// at which everything that it has sent so far would have been earned.
//
// What always holds: the decision is a pure function of that stored time and the
// time of the request. All processes over one database share one count, which is
// exact in the long run (Counter says how far it may lag behind for a moment). A
// refused request costs the client nothing and writes nothing.
//
// Headers and refusals are left to package front. Start reading at Policy.Decide,
// then Counter.
package ratelimit
