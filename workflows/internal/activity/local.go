package activity

import "time"

// AllAttempts is how long a local activity may take with all its attempts, where their number or the end of its
// workflow is the bound. Where an activity does not say, the SDK has all attempts share the time of one: a second one
// is not made after a timeout, and an outage that is longer counts as the outcome.
const AllAttempts = 365 * 24 * time.Hour
