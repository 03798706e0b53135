// Package notify notifies people, by a webhook, that something waits for them, and that it was decided. Sender signs
// and sends one message for each notice (Standard Webhooks).
//
// Invariants:
//   - The address is the worker's setting (FromEnvironment); no Idea file can change it, and redirects are not
//     followed.
//   - With a secret every message is signed, with its id and its time.
//   - A retry has the same id, so that a receiver can recognize a duplicate.
//   - Errors are of type *Error, which says whether another attempt may succeed.
package notify
