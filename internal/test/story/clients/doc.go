// Package clients holds no code of the product: its stories are about programs that use
// the service: agents, the SDKs, receivers of webhooks, readers of streams and links.
//
// Package story, the harness of these stories, says what always holds.
package clients
