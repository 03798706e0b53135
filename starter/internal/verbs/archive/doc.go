// Package archive holds the verbs that read chains of Ideas from the store, most of them without a server, and the
// verbs gc and forget, which remove data.
package archive
