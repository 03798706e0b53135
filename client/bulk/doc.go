// Package bulk is for decisions on many Calls at once: Selection selects waiting Calls, and TableOf shows them as one
// table, which states common values once and has columns for different ones.
//
//	waiting, err := p.Approvals(ctx)
//	fitting, err := bulk.Selection{Tool: "settle", Where: where}.Of(waiting)
//	table := bulk.TableOf(fitting)
//	outcomes, err := p.DecideMany(ctx, bulk.Decisions(fitting, client.Decision{Kind: client.Approve, By: "ann"}))
//
// Invariants: a table shows of every Call all that its digest covers, except its id. Calls that share a row differ only
// in their instances. Decisions have the digests of what the table shows, so that they apply to nothing else.
package bulk
