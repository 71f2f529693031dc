// Package money holds no code of the product: its stories show what a render costs, when
// money is reserved, captured and given back, and that test mode moves none.
//
// What always holds is said in package story, which is the harness of these stories.
package money
