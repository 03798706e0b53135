package protocol

import "time"

const (
	// HeartbeatTimeout is the time without a heartbeat after which a worker counts as lost, unless the worker sets
	// another. It suits a worker beside an embedded server, where heartbeats cost nothing. No worker may set a shorter
	// time.
	HeartbeatTimeout = 5 * time.Second
	// HeartbeatTimeoutErrorType is the error type with which a retry policy recognizes an activity whose worker was
	// lost.
	HeartbeatTimeoutErrorType = "TemporalTimeout:Heartbeat"
	// DiscoverMCPToolsTimeout is the time that all MCP servers of a process together have to start and to list their
	// tools: enough to install one on its first run. A server that has not answered by then is not asked again
	// automatically.
	DiscoverMCPToolsTimeout = 150 * time.Second
)

// minHeartbeatInterval keeps the interval above zero for the shortest timeouts, as a ticker requires.
const minHeartbeatInterval = time.Millisecond

// HeartbeatInterval returns the interval between an activity's heartbeats, always above zero. It leaves a third of the
// timeout for a late heartbeat, and at least three seconds if the timeout is long enough for that. The server shortens
// a heartbeat timeout to the activity's own timeout, so the timeout may be far below HeartbeatTimeout.
func HeartbeatInterval(timeout time.Duration) time.Duration {
	return max(timeout-max(timeout/3, 3*time.Second), timeout/3, minHeartbeatInterval)
}
