// Package browser holds no code of the product: its stories are told by people in a real
// Chromium.
//
// What always holds is said in package story, which is the harness of these stories.
package browser
