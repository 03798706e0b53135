// Package devserver runs a Temporal server and its web UI inside the program, on one SQLite file, for a person's own
// machine and for tests.
//
// Options set where the data is and on which ports the server listens; a Server is a running server. Start handles the
// folder's lock, the ports, the database (database.go), the four services of Temporal (temporal.go, config.go), the
// namespace and its search attributes (prepare.go), and the UI (ui.go), in this order. tuning.go makes the server as
// fast as one machine can be.
//
// Invariants: everything listens on loopback, without authentication. Two servers never share a folder. A file survives
// kill -9. The program ends only if a running server has lost one of its services. The database may be lost: Temporal
// does not migrate its SQLite schema. Only the commands starter and bench, processtest and tests import this package.
package devserver
