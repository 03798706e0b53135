// Package form makes forms for values that a JSON Schema describes, and reads what a browser sends of them, without any
// script.
//
// New makes the fields of a value, Read the value of what was sent. What no control can hold (several types, patterns
// of keys, texts that a browser would change) is JSON in a text area.
//
// Invariants: a value that nobody touched is read as it was, to the byte: numbers keep their digits, texts their line
// ends. Read checks the form of what was entered alone: whoever uses the value checks it against the schema.
package form
