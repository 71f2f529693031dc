// Package statement checks the interface on a running service, statement by statement.
//
// The statements are the files in rows, in the order of docs/interface.md: requests as a
// caller sends them, each followed by what its answer must be. A statement is one request
// and one check of its answer; a check that applies to five credentials is five
// statements. The test runs all of them on both databases and prints how many hold.
//
// To add a statement, write a line below its request. The comment of parse has the
// grammar. Only the standard library reads the answers: nothing of the service's own code
// can agree with itself here.
package statement
