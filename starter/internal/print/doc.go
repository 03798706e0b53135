// Package print renders results, tables, statuses and waiting decisions as text for people. Everything from outside
// goes through Printable, so that no value controls the terminal.
package print
