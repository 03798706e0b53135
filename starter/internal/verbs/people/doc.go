// Package people holds the verbs by which people decide on waiting Calls and steer running processes. acts.go has a
// table of them; other verbs list or ask. Each waits until its request has taken effect or was refused.
package people
