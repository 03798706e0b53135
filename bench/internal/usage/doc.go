// Package usage asks the operating system what this program has used: processor time and peak memory. If the system
// does not report them, the figures are 0.
package usage
