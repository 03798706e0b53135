// Package othermodule holds the test that a program of another module can use package client: it builds the program in
// testdata, in a module of its own and offline, and runs it against an embedded server.
package othermodule
