// Package quota shares limits of Requests and Calls among those who may begin them at the same time: a process and its
// instances, a whole and its parts, an instance and its delegates. Each keeps a Ledger of what was begun and of the
// Claims of those who work for it, and deals out what they need (Deal). What they tell each other are a turn.Quota and
// a turn.QuotaUse.
//
// # Invariants
//   - No more is begun than all together may: what was given and may still be begun counts as gone (Reserved).
//   - A Quota only grows, so that it may be told twice.
//   - Leave is asked for only where a limit is said, or half of a default is used: asking costs signals.
//   - A limit is reached only once all that was given has been heard of.
package quota
