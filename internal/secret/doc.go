// Package secret strikes secrets out of what tools and servers say. They repeat what they were sent: in errors, in
// logs that they return, in what an echo is for. A Striker is made for the secrets that one request was filled with,
// and replaces each by [secret NAME] in texts and JSON values.
//
// Invariants:
//   - A secret is found in any spelling that servers are known to use: upper and lower case, JSON, URL and HTML
//     escapes, hex, base64, and escapes within escapes.
//   - Text is struck before it is shortened: half a secret would not be found.
//   - What holds no secret is returned as it was.
package secret
