// Package workers holds no code of the product: its stories show which worker renders what,
// the effects of bad, lost and lying ones, and what becomes of the files of frames.
//
// Package story, the harness of these stories, says what always holds.
package workers
