// Package policy is what an Idea file says of approvals: when a person is asked about a Tool's Calls (Approval, and
// Oversight for the whole process), who may decide (Rules), and what happens while nobody does (ReminderRules, and its
// Schedule for one Call).
//
// Invariants:
//   - Rules only narrow. A person who may decide under several of them may decide under each.
//   - An Oversight removes nothing: a Call that its Tool's policy asks about is still asked about, and its Rules hold.
//   - An escalation only adds people to those who may decide. How many must, who may not, and what they must prove does
//     not change.
//   - Reminders that are due at the same moment are sent as one, however many times have passed.
package policy
