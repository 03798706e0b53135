// Package approval is people's part in a process, as data and as rules that need nothing else: what waits for them
// (Pending, Plan), what they signal (Decision, ManyDecisions, StandingOrder, SteeringPayload), who of them it is
// (Proven), and what they are told (Notice, Fate).
//
//	type           from → to            says
//	Pending        instance → people    a ready Call, exactly as it would run, with its digest
//	Plan           loop → people        the Plan of a Request that waits as a whole
//	Notice         loop → people        a Call began to wait, waits still, or stopped waiting
//	Decision       people → instance    approve, reject, amend, replace or answer, for one digest
//	StandingOrder  people → process     Calls that fit are approved; Orders keeps them
//	Fate           instance → people    what became of an act: taken, or refused and why
//
// What an Idea file says of approvals is in policy, below; what a signature must say in proof. Which Call waits, and
// what a decision does to it, is decided in dataflow; what holds a whole Plan, in loop.
//
// Invariants:
//   - What a person decides on is what runs: a Decision with an outdated digest is refused.
//   - Who approves a Plan approves none of its Calls by that: the policies of their Tools hold as ever.
//   - What was handed out under a standing order and not refused is never more than its Count. A Call is approved under
//     an order once, and refused under it once; an order never covers what a person has changed.
//   - JSON tags are wire format and recorded history: do not rename them with the Go names.
package approval
