// Package api is the HTTP API of the gateway, with which programs of any language use processes. It is thin over
// package client. Its description, OpenAPI 3.1, is made from the types here and served at /openapi.json.
//
// Invariants: every error is a problem document (RFC 9457) with a code that never changes; nothing is kept between
// requests, so that any number of gateways may run side by side; no request can name a file of the gateway's machine;
// an operation requires a right, and a request without the right is refused before anything else is done.
package api
