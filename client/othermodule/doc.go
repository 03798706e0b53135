// Package othermodule tests that another Go module can import client. It builds the program in testdata offline, in a
// module of its own, and runs it against an embedded server.
package othermodule
