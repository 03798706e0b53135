package activity

import "time"

// AllAttemptsTimeout is the ScheduleToCloseTimeout of a local activity that only its number of attempts, or the end of
// its workflow, shall bound. Without such a timeout, the SDK gives all attempts together the time of one: no second
// attempt follows a timeout, and a longer outage fails the activity.
const AllAttemptsTimeout = 365 * 24 * time.Hour
