// Package schedules starts processes by the clock: each is a Temporal Schedule that starts an Idea file. When two runs
// would overlap, and what becomes of those that were missed, is Temporal's to say, in Temporal's words.
package schedules
