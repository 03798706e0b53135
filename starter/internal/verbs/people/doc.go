// Package people holds the verbs by which people decide on Calls that wait and steer processes that are at work: those
// of the table in acts.go, and others that list or ask. Each waits until what it asks has taken effect or was refused.
package people
