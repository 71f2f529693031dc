// Package proof holds no code of the product: its stories show what proves a render, who
// sees a false proof, and what stays of a job that is done.
//
// Package story, the harness of these stories, says what always holds.
package proof
