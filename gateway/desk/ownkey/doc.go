// Package ownkey has people make a passkey at the desk, and sign decisions with it.
//
// A gateway keeps no passkey. It shows the public key as an entry of the JWKS that workers trust
// (PROCESSIDEA_DECIDERS); whoever looks after that list adds it there, and the gateway reads the same list to know who
// has which passkey.
//
// Invariant: a gateway judges no signature. It makes the proof of what the browser gave, and the worker says whether it
// counts.
package ownkey
