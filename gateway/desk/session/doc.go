// Package session keeps who is logged in at the desk in a cookie of their browser, since a gateway keeps nothing
// itself.
//
// Invariants: what is in a cookie is encrypted and authenticated, so that nobody reads or makes one without the
// gateway's secret; a cookie holds no token; no page of another site has a browser send it (SameSite), and no script
// reads it (HttpOnly).
package session
