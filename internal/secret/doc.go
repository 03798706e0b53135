// Package secret removes secrets from the output of tools and servers, which may repeat their input in errors, returned
// logs or echoes. A Redactor is made for the secrets of one request. It replaces each secret by [secret NAME] in texts
// and JSON values.
//
// Invariants:
//   - A secret is found in any spelling that servers are known to use: upper and lower case, JSON, URL and HTML
//     escapes, hex, base64, and escapes within escapes.
//   - Text is redacted before it is shortened, since half a secret would not be found.
//   - A value without a secret is returned unchanged.
package secret
