// Package winetest runs the Windows program under Wine in scripts of testscript, in place of
// the program of this machine. It is compiled with the tag wine; make wine runs its tests.
package winetest
