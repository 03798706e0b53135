// Package schedules starts processes by the clock: each schedule is a Temporal Schedule that starts an Idea file.
// Temporal, in its own terms, decides what happens to overlapping and missed runs.
package schedules
