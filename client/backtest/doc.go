// Package backtest runs the files of a new process over the instances of finished processes, with the results that
// Calls had there, and reports what would differ. Package learn/backtest does the comparison.
//
//	report, problems, err := backtest.Run(ctx, archive, source, tools, backtest.Options{Processes: []string{"refunds-1"}})
//
// Chains are read from the store, without a server. Requests are answered by what the LLM planned in the finished
// processes, by recorded replies (Source.Replies) or by an LLM (Options.LLM).
package backtest
