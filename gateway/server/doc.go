// Package server puts the gateway together: who is there, the API, and the limits of one HTTP server. It keeps nothing,
// so that any number of gateways may stand side by side, in workers or alone.
//
// Invariants: what is read from a connection is bounded in size and in time; the log tells who asked for what, and
// holds neither tokens nor bodies nor parameters.
package server
