// Package workers holds no code of the product: its stories show which worker renders what,
// what bad, lost and lying ones bring, and what becomes of the files of frames.
//
// What always holds is said in package story, which is the harness of these stories.
package workers
