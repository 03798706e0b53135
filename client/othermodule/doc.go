// Package othermodule tests that another Go module can import client: it builds the program in testdata, in a module of
// its own and offline, and runs it against an embedded server.
package othermodule
