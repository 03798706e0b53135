// Package server finds the Temporal server that a command line means, or runs one: the remote server of the
// environment, the one that another program runs on the data folder, or an embedded one with its web UI and a worker.
//
// A Place says where Temporal and the store are; a Session is an open way to both. Invariants: one program at a time
// runs a server on a folder, under a lock that the kernel lets go when the program dies; verbs that only look never
// start a server and make no folder; two folders never meet. The embedded server is given to it: see Temporal.
package server
