// Package hooks starts processes from webhooks, by rules in a file. A webhook is signed as Standard Webhooks
// (standardwebhooks.com) says: without the secret of a rule nobody can start anything by it.
//
//	{"hooks": {"orders": {"idea": "refunds/idea.json", "secret": "$env:ORDERS_SECRET", "when": ".type == \"order.returned\"", "input": ".data"}}}
//
// Invariants: a process is named by its rule and the webhook's id, so that a duplicate starts nothing, at any gateway;
// the rules, the Idea files and the secrets are read anew each time, and nothing is kept; no error contains a secret.
package hooks
