// Package operation has what all operations of the HTTP API share: credential
// checks, reading and writing JSON, turning errors into responses, and common
// headers.
//
// What always holds: a credential is checked before the body is read. An error
// goes to package front, which writes every error. No answer that shows a
// secret may be cached.
//
// It knows no route; those are in package api and the packages next to this
// one. Start reading at Guard, then huma_errors.go.
package operation
