// Package wording says the desk's texts in the reader's language.
//
// English is what stands in templates and in Go, and the key of a catalogue, which is a file of data. Templates are
// translated once, before they are parsed. A sentence with values in it, which the engine or the desk has made, is
// found by its fixed words. A text without an entry stays as it is: so do data, which nobody translates.
package wording
