// Package texttools holds the Go tools of the examples that look at texts: analyzeSentiment, scoreSentiment,
// matchWords and findSimilar. Command starter has them; a worker of production, and a program of one's own, has them
// if it registers them:
//
//	command.Main(command.WithTools(texttools.Register))
//
// Invariants: all are pure; none runs for long, whatever it is given; what is wrong with a Call's parameters is a
// final error.
package texttools
