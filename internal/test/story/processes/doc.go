// Package processes holds no code of the product: its stories are about programs of svc that
// run as processes of their own, are killed, meet full disks, and run on farms.
//
// What always holds is said in package story, which is the harness of these stories.
package processes
