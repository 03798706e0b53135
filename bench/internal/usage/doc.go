// Package usage asks the operating system what this program has used: processor time and peak memory. Where the system
// does not tell, the figures are 0.
package usage
