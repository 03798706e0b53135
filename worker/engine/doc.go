// Package engine puts the parts together, for the worker, the starter and tests alike: ClientOptions make a Temporal client
// that encrypts payloads and keeps large ones in the store, NewWorker a worker that knows the workflows and the activities.
// Parts is what a worker is made of; FromEnvironment fills in what is missing.
//
// Invariants:
//   - Every client and every worker of a process is made from the same converter, keys and store, or it sees references to
//     payloads instead of payloads.
//   - Settings that cannot be meant are refused before anything is started.
//   - With keys, what tools and LLMs said when they failed is encrypted in histories and left out of logs.
package engine
