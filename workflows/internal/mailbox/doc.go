// Package mailbox is how a workflow receives signals and sends them, in order in both directions.
//
// Inbox is where everything that happens to a workflow comes in: signals, timers and the ends of activities, one event
// at a time. A workflow registers a handler for each kind of signal (OnSignal for signals from other parts of this
// program, OnPersonSignal for signals from people), then alternates between Inbox.Wait and its own decisions. Outbox
// sends signals to other workflows.
//
// Invariants:
//   - Signals are handled in history order, whatever their names. The SDK alone keeps that order within one name only;
//     NewSignalOrderInterceptor is the interceptor that restores it, and every worker and every replayer needs it.
//   - A signal that cannot be read, or that changes nothing, is kept among Inbox.Fates with the reason. None is lost.
//   - The Update "outcome" is answered once each act that it asks for has a Fate, or is known to have none. Acts
//     themselves are signals.
//   - Per recipient, one signal is on its way at a time: signals sent in one workflow task may arrive in any
//     order.
//   - Signals are addressed by workflow id, never by run id: the recipient may have continued as new.
//   - Signals that are not handled or not sent yet when the workflow continues as new are carried into the next run.
//   - Nothing here waits for a delivery except DeliverSignalsAndWait.
package mailbox
