// Package people holds the verbs by which people decide on Calls that wait and steer processes that are at work:
// approvals; approve, reject, amend, replace, answer; pause, resume, revise, add, cancel. Each waits until what it asks
// has taken effect or was refused.
package people
