// Package server assembles the gateway: authentication, the API, and the limits of one HTTP server. It keeps nothing,
// so that any number of gateways may run side by side, in workers or alone.
//
// Invariants: what is read from a connection is bounded in size and in time; the log records who requested what,
// without tokens, bodies or parameters.
package server
