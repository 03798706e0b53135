// Package ownkey lets people make a passkey at the desk, and sign decisions with it.
//
// A gateway keeps no passkey. It shows the public key as an entry for the JWKS that workers trust
// (PROCESSIDEA_DECIDERS). The administrator of that list adds it there, and the gateway reads the same list to find
// each person's passkeys.
//
// Invariant: a gateway verifies no signature. It makes the proof from the browser's response, and the worker decides
// whether it counts.
package ownkey
