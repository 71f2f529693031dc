// Package processes holds no code of the product: its stories are about programs of svc that
// run as processes of their own, are killed, meet full disks, and run on farms.
//
// Package story, the harness of these stories, says what always holds.
package processes
