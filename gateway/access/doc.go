// Package access identifies who sends a request to the gateway, and what they may do.
//
// Invariants: a request without a right is refused before anything is done for it; no error and no log contains a token
// or its secret; a request that a foreign page makes a browser send is refused, whatever it carries.
package access
