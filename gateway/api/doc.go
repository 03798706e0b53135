// Package api is the HTTP API of the gateway: what programs of any language do with processes, thin over package
// client. Its description, OpenAPI 3.1, is made of the types here and stands at /openapi.json.
//
// Invariants: every error is a problem document (RFC 9457) with a code that never changes; nothing is kept between
// requests, so that any number of gateways may stand side by side; nothing that a request says names a file of the
// gateway's machine; an operation asks for a right, and is refused without it before anything else is done.
package api
