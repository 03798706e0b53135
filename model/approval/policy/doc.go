// Package policy is what an Idea file says of approvals: when a person is asked about a Tool's Calls (Approval, and
// Override for the whole process), who may decide (Rules), and what happens while nobody does (WhileWaiting, and its
// Schedule for one Call).
//
// Invariants:
//   - Rules only narrow. A person who may decide under several of them may decide under each.
//   - An Override takes nothing away: a Call that its Tool's policy asks about is asked about, and by whom that says.
//   - An escalation only adds people to those who may decide; how many must, who may not, and what they must prove
//     stays as it is.
//   - What is due at one moment is one reminder, however many times have passed, so that people are not told twice at
//     once.
package policy
