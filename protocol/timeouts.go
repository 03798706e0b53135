package protocol

import "time"

const (
	// HeartbeatTimeout is after how long without a heartbeat a worker counts as lost that says nothing else: one beside
	// an embedded server, where heartbeats cost nothing. It is also the shortest time that a worker may be given.
	HeartbeatTimeout = 5 * time.Second
	// HeartbeatLost is the error type by which a retry policy knows an activity whose worker was lost.
	HeartbeatLost = "TemporalTimeout:Heartbeat"
	// DiscoverPatience is how long the MCP servers of a process may take, together, to start and to list their tools:
	// time enough for one that is installed when it is first run. One that has not answered by then is not asked again
	// by itself.
	DiscoverPatience = 150 * time.Second
)

// minHeartbeatInterval keeps a ticker possible for the shortest timeouts: it must be above zero.
const minHeartbeatInterval = time.Millisecond

// HeartbeatInterval returns how often an activity sends a heartbeat, always above zero. An activity whose heartbeat is
// late has a third of the timeout left, and three seconds at least where the timeout is long enough for that. The
// server shortens a heartbeat timeout to the activity's own timeout, so that it may be far below HeartbeatTimeout.
func HeartbeatInterval(timeout time.Duration) time.Duration {
	return max(timeout-max(timeout/3, 3*time.Second), timeout/3, minHeartbeatInterval)
}
