// Package archive holds the verbs that read chains of Ideas from the store, with no server: history, show, diff, blame,
// verify, export, graph, harden; and gc, which removes old ones.
package archive
