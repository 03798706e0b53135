// Package texttools holds the Go tools of the examples that analyze texts: analyzeSentiment, scoreSentiment, matchWords
// and findSimilar. Command starter has them. A production worker, or a program of yours, has them if it registers them:
//
//	command.Main(command.WithTools(texttools.Register))
//
// Invariants: all are pure; none runs for long on any input; a mistake in a Call's parameters is a final error.
package texttools
