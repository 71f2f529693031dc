// Package money holds no code of the product: its stories show what a render costs, when
// money is reserved, captured and given back, and that test mode moves none.
//
// Package story, the harness of these stories, says what always holds.
package money
