// Package desk is the page on which people find what waits for them, understand it, and decide.
//
// It shows processes too, with their status and their Ideas, and steers them. It is rendered on the server and works
// without a script: links, and forms that are posted and answered by a redirect.
//
// Invariants: pages load nothing from elsewhere and contain no inline script or style (the content security policy
// allows none); data of processes is always shown as text; a decision carries the digest of what was shown, so that
// nothing else is decided on; people who are not logged in see nothing.
package desk
