// Package desk is the page on which people find what waits for them, understand it, and decide.
//
// It shows processes too: where they stand, what their Ideas were, and steers them. It is made on the server and works
// without a script: links, and forms that are posted and answered by a redirect.
//
// Invariants: nothing is loaded from elsewhere, and no script or style stands in a page (the content security policy
// allows none); what comes from processes is text, wherever it is shown; a decision carries the digest of what was
// shown, so that nothing else is decided on; who is not logged in sees nothing.
package desk
