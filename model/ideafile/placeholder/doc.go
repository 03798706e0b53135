// Package placeholder reads templates with {name} in the place of a value: Split cuts a template into its parts,
// FindValue looks a name up in the values, FormatValue formats a value within text. HTTP tools and the built-in
// formatText use it.
//
// Invariants:
//   - A value that was filled in is never read as a template again.
//   - Braces around anything but a name stay as they were written; {{name}} is the literal {name}.
package placeholder
