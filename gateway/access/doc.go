// Package access finds out who sends a request to the gateway, and what they may do.
//
// Invariants: a request without a right is refused before anything is done for it; a token and what it is made of stand
// in no error and in no log; what a foreign page has a browser send is refused, whatever it brings.
package access
