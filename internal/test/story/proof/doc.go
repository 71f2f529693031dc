// Package proof holds no code of the product: its stories show what proves a render, who
// sees a false proof, and what stays of a job that is done.
//
// What always holds is said in package story, which is the harness of these stories.
package proof
