// Package diag defines faults and problems and their texts.
//
//   - Fault is an error at run time: a code that programs act on and a message for people.
//   - Problem is an error in a file before anything runs, at a place in it; Problems is a list of them and an error
//     too.
//   - DidYouMean and NearestName propose the known name that an unknown one was probably meant to be.
//
// Invariants:
//
//   - A Fault's code is part of the interface to the outside and does not change; its message may.
//   - A warning marks a file that will run: only Problems.Errors stop it.
//   - Every text here is the same for the same arguments, whatever the order of a map behind them, because histories
//     and prompts hold it.
package diag
