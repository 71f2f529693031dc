// Package clients holds no code of the product: its stories are told by programs that use
// the service: agents, the SDKs, receivers of webhooks, readers of streams and links.
//
// What always holds is said in package story, which is the harness of these stories.
package clients
