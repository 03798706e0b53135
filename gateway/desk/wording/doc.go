// Package wording says the desk's texts in the reader's language.
//
// Templates and Go code have English texts. They are the keys of a catalogue, which is a file of data. Templates are
// translated once, before they are parsed. A sentence with values in it, which the engine or the desk has made, is
// found by its fixed words. A text without an entry stays as it is, and so does data, which nobody translates.
package wording
