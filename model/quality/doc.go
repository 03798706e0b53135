// Package quality measures how far a Request's answers about many instances can be trusted. The LLM is asked twice
// about a share of the instances, and the two answers are compared. The package is pure: the loop asks, an activity
// compares, a split process adds up its parts.
//
//	AnswersDiffer       whether two answers about an instance decide differently: decisionRules define what counts
//	Tally, Report       how many did, with Wilson's interval; plain data, which is carried and added up
//	Order, Tally.Draw   the order of instances in a prompt, and which are asked about twice: by the seed in the Idea
//	RequestSizeFor, NextRequestSize   how many instances a Request covers at first, and how many by what was measured
//
// Two answers that differ do not show which is right, and two equal ones may both be wrong: the measure is
// disagreement, never error.
package quality
