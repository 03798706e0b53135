// Package hooks starts processes from webhooks, by rules in a file. A webhook is signed as Standard Webhooks says
// (standardwebhooks.com): who has no secret of a rule starts nothing.
//
//	{"hooks": {"orders": {"idea": "refunds/idea.json", "secret": "$env:ORDERS_SECRET", "when": ".type == \"order.returned\"", "input": ".data"}}}
//
// Invariants: a process is named by its rule and the webhook's id, so that what comes twice starts once, at any
// gateway; the rules, the Idea files and the secrets are read anew each time, and nothing is kept; no secret stands in
// an error.
package hooks
