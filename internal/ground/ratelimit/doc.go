// Package ratelimit decides how many requests a client may make: a burst at
// once, then a steady rate (GCRA).
//
// What always holds: the decision is a pure function of a client's arrival time
// and the time of the request; all processes over one database share one count,
// which is exact in the long run and, near a client's limit, at once (Counter
// says how far it may lag behind elsewhere); a refused request costs the client
// nothing and writes nothing.
//
// Headers and refusals are left to the front of the service. Start reading at
// Policy.Decide, then Counter.
package ratelimit
