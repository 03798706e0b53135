// Package form makes forms for values that a JSON Schema describes, and reads what a browser sends, without any script.
//
// NewField makes the fields of a value, and Read makes the value from the sent form. A value that no control can hold
// (several types, patterns of keys, texts that a browser would change) is JSON in a text area.
//
// Invariants: a value that nobody touched is read back unchanged, to the byte: numbers keep their digits, texts their
// line ends. Read checks only the form of the input; its caller checks the value against the schema.
package form
