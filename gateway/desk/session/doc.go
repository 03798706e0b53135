// Package session keeps the login of a person at the desk in a cookie of their browser, since a gateway keeps nothing
// itself.
//
// Invariants: a cookie is encrypted and authenticated, so that nobody can read or make one without the gateway's
// secret; a cookie holds no token; no page of another site makes a browser send it (SameSite), and no script reads it
// (HttpOnly).
package session
