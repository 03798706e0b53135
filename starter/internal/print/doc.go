// Package print puts what processes come to into text for people: results and tables, where a process stands, what
// waits for a decision. Everything that comes from outside goes through Printable, so that no value steers the
// terminal.
package print
