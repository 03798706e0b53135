// Package bulk is for deciding on many Calls at once: Selection picks them from what waits, and TableOf shows them as
// one table, which states once what is the same and has columns for what differs.
//
//	waiting, err := p.Approvals(ctx)
//	fitting, err := bulk.Selection{Tool: "settle", Where: where}.Of(waiting)
//	table := bulk.TableOf(fitting)
//	outcomes, err := p.DecideMany(ctx, bulk.Decisions(fitting, client.Decision{Kind: client.Approve, By: "ann"}))
//
// Invariants: a table tells of every Call all that its digest covers but its id. Calls that share a row differ in their
// instances alone. Decisions carry the digests of what the table shows, so that nothing else is decided on.
package bulk
