// Package backtest runs the files of a new process over the instances of processes that have finished, with the results
// that Calls had there, and reports what would differ: see learn/backtest, which does it.
//
//	report, problems, err := backtest.Run(ctx, archive, source, tools, backtest.Options{Processes: []string{"refunds-1"}})
//
// Chains are read from the store; no server is needed, and none is touched. Requests are answered by what the LLM
// planned then, by recorded replies (Source.Replies) or by an LLM (Options.LLM).
package backtest
