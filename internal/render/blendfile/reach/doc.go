// Package reach finds out which data-blocks of a .blend the picture of a scene comes from.
//
// What always holds: a walk ends, whatever the file refers to; where the file holds more
// than is kept, the answer is that nothing is known (a nil [Set]), and then everything may
// be part of the picture.
//
// Callers decide what it means that a data-block is reached: a file that is wanted, a
// script that sets a property. Start reading at Of; graph.go says which words of a file are
// pointers, and what a pointer means.
package reach
