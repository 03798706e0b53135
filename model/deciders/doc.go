// Package deciders says who may decide on a Call that waits for a person: how many people, of which groups or by name, neither who started
// the process nor who decided on certain other Calls.
//
// Invariant: Rules only narrow. A person who may decide under several of them may decide under each.
package deciders
