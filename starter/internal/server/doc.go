// Package server finds the Temporal server that a command line means, or runs one. It is the remote server of the
// environment, the server that another program runs on the data folder, or an embedded server with its web UI and a
// worker.
// A Place says where Temporal and the store are; a Session is an open connection to both. Invariants: only one program
// at a time runs a server on a folder. It holds a lock that the kernel releases when the program dies. Connect and
// OpenArchive start no server and create no folder. Two folders never share a server. The callers pass in the embedded
// server: see TemporalHost.
package server
