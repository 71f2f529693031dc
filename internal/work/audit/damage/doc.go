// Package damage holds no code of the product: its tests damage one cell of a whole store at
// a time and ask whether the audit sees it. Start reading at mutation_test.go; a new table
// or column needs a row in one of the store_*_test.go files.
//
// Nothing runs at the same time here, and the race detector makes the thousands of audits
// six times slower.
//
//testrun:one-at-a-time
package damage
