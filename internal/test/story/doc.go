// Package story is the harness of the stories: tests that show what happens to a render
// from end to end, over the same wiring that `svc serve` starts. Its folders hold them,
// by subject: money, proof, workers, blender, clients, processes, browser.
//
// Most stories run on both databases with a scripted renderer, which paints
// small pictures and hangs, fails or waits where the story says; some run again
// with a real Blender and with the built binary.
//
// What always holds: every story ends with the audit of the whole store, which
// must find no breach, and with the money counted; a story waits for events of
// what it watches, never for time to pass.
//
// What one package does alone is proven by the tests in that package. Start reading at
// Service in harness.go, then processes/crash_test.go.
package story
