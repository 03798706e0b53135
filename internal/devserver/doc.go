// Package devserver runs a Temporal server and its web UI inside the program, on one SQLite file, for a person's own
// machine and for tests.
//
// Options set where the data is and on which ports the server listens; a Server is a running one. Start goes through
// the folder's lock, the ports, the database (database.go), the four services of Temporal (temporal.go, config.go), the
// namespace and its search attributes (prepare.go), and the UI (ui.go). tuning.go makes it as fast as one machine can
// be.
//
// Invariants: everything listens on loopback, without authentication; two servers never share a folder; a file survives
// kill -9; the program ends only if a running server has lost one of its services. The database is losable: Temporal
// does not migrate its SQLite schema. Only the command starter, processtest and tests import this package.
package devserver
