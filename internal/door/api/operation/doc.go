// Package operation is what every operation of the HTTP API has in common: who
// asks, how JSON is read and written, how an error becomes the answer, and the
// parts of an answer that many operations share.
//
// What always holds: a credential is checked before the body is read; an error
// goes to package front, which writes every error; no answer that shows a secret
// may be cached.
//
// It knows no route. Those stand in package api and the packages beside this one.
// Start reading at Guard, then errors.go.
package operation
