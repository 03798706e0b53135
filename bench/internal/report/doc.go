// Package report turns measured samples into figures: a table, growths and a JSON file.
//
//   - A Recorder collects the samples of one work over its rounds, and those of plain Go for the same work.
//   - A Figure sums them up: the median with the tenth and the ninetieth percentile, the ratio to plain Go, and whether
//     a limit is met.
//   - A Growth says what one more Request, Call or instance costs at each order of magnitude.
//
// Invariants: summing up what several processes measured gives the same as measuring in one process
// (Recorder.AddFigures). A file that Save wrote gives the same table again. bench/peers reads and writes the same JSON.
package report
