// Package approval is people's part in a process, as data and as rules that need nothing else: what waits for them
// (PendingCall, Plan), what they signal (Decision, DecisionBatch, StandingOrder, SteeringPayload), who sent the signal
// (Proven), and how they are notified (Notice, Fate).
//
//	type           from → to            content
//	Pending        instance → people    a ready Call, exactly as it would run, with its digest
//	Plan           loop → people        the Plan of a Request that waits as a whole
//	Notice         loop → people        a Call began to wait, waits still, or stopped waiting
//	Decision       people → instance    approve, reject, amend, replace or answer, for one digest
//	StandingOrder  people → process     Calls that fit are approved; Orders keeps them
//	Fate           instance → people    what became of an act: taken, or refused and why
//
// Package policy, below, reads what an Idea file says of approvals. Package proof checks what a signature must contain.
// Package dataflow decides which Call waits, and what a decision does to it. Package loop holds whole Plans.
//
// Invariants:
//   - What a person decides on is what runs: a Decision with an outdated digest is refused.
//   - The approval of a Plan approves none of its Calls: the policies of their Tools still apply.
//   - A standing order never grants more approvals than its MaxCalls, not counting refused ones. It approves a Call at
//     most once, and is refused on a Call at most once. It never covers what a person has changed.
//   - JSON tags are wire format and recorded history: do not rename them with the Go names.
package approval
