// Package signingkey has the Ed25519 keys that sign receipts, checkpoints, releases and
// benchmark results: their ids, their PEM form, and keys whose private half is elsewhere.
//
// What always holds: a signature that another program makes is verified before it is used.
//
// It leaves to others what is signed, which key signs when, and the files of keys (keyfile).
// Start reading at Key.
package signingkey
