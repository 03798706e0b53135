// Package undo makes the Plan that undoes Calls: which other Calls undo them, in which order, and what cannot be
// undone.
//
//   - Call is the record of one Call. CallsOfInstance reads the part of it that an instance has: what the Call read and
//     wrote, and when.
//   - Selection selects what to undo: all since an Idea, one instance, or one Call with all that read from it.
//   - PlanUndo makes the Plan.
//   - PlanInstanceUndo makes a working instance undo what it did, by its own records.
//
// Invariants, which the property test checks:
//   - Whatever stays in the world has all that it read: a Call is not undone while another Call that stays has read
//     from it.
//   - A Call is undone before what it read and what it came after; independent Calls have no order.
//   - Every chosen Call is in one list of the Plan, and a Call that was undone before never runs again.
package undo
