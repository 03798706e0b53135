// Package report turns what was measured into figures: a table, growths and a JSON file.
//
//   - A Record collects the samples of one work over its rounds, and those of plain Go doing the same beside it.
//   - A Figure sums them up: the median with the tenth and the ninetieth percentile, the ratio to plain Go, and whether
//     a limit is met.
//   - A Growth says what one more Request, Call or instance costs at each order of magnitude.
//
// Invariants: summing up what several processes have measured gives the same as measuring it in one
// (Record.AddFigures); a file that Save wrote gives the same table again. bench/peers reads and writes the same JSON.
package report
