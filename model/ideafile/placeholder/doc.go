// Package placeholder reads templates in which {name} stands for a value: Split cuts a template into its parts, Find
// looks a name up in the values, Text is how a value reads within text. HTTP tools and the built-in formatText use it.
//
// Invariants:
//   - A value that was put in is never read as a template again.
//   - Braces around anything but a name stay as they were written; {{name}} is the literal {name}.
package placeholder
