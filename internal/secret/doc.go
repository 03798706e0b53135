// Package secret removes secrets from the output of tools and servers, which repeat their input: in errors, in returned
// logs, in an echo. A Striker is made for the secrets of one request, and replaces each by [secret NAME] in texts and
// JSON values.
//
// Invariants:
//   - A secret is found in any spelling that servers are known to use: upper and lower case, JSON, URL and HTML
//     escapes, hex, base64, and escapes within escapes.
//   - Text is struck before it is shortened: half a secret would not be found.
//   - A value without a secret is returned unchanged.
package secret
