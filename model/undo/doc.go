// Package undo makes the inverse of what Calls did: which other Calls take them back, in which order, and what cannot
// be taken back.
//
//   - Call is what is on record of one Call, CallsOf reads the part of it that an instance tells: what the Call read
//     and wrote, and when.
//   - Choice says what is to be taken back: all since an Idea, one instance, or one Call with all that read from it.
//   - Invert makes the Plan.
//   - OfInstance has an instance that is at work take back what it did, by its own records.
//
// Invariants, held by the property test:
//   - What stays in the world has all that it read: nothing is taken back that something still reads which is not taken
//     back.
//   - A Call is taken back before what it read and what it came after; what is independent has no order.
//   - Every chosen Call is in one list of the Plan, and a Call that was taken back before never runs again.
package undo
