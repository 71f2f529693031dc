// Package browser holds no code of the product: its stories are about people in a real
// Chromium.
//
// Package story, the harness of these stories, says what always holds.
package browser
