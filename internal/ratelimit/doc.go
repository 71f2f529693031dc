// Package ratelimit decides how many requests a client may make: a burst at
// once, then a steady rate (GCRA).
//
// What always holds: the decision is a pure function of a client's arrival time
// and the time of the request; one SQL statement takes a request, so that all
// processes over one database share one count; a refused request costs the
// client nothing and writes nothing.
//
// Headers and refusals are left to the front of the service. Start reading at
// Policy.Decide.
package ratelimit
