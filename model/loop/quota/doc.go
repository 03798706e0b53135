// Package quota shares limits of Requests and Calls among consumers that begin them at the same time: a process and its
// instances, a whole and its parts, an instance and its delegates. Each level keeps a Ledger of its own use and of the
// Allocations of its consumers, and allocates what they need (Allocate). A turn.Quota goes to a consumer, and a
// turn.QuotaUse comes back.
//
// # Invariants
//   - No more is begun than the limits allow for all together: a grant that may still be used counts as gone
//     (ReservedQuota).
//   - A Quota only grows, so that it may be delivered twice.
//   - Quota is requested only for explicit limits, or once half of a default is used: asking costs signals.
//   - A limit is reached only once the use of every grant has been reported.
package quota
