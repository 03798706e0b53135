package protocol

import "time"

const (
	// HeartbeatTimeout is after how long without a heartbeat a worker counts as lost that says nothing else: one beside an embedded server,
	// where heartbeats cost nothing. It is also the shortest time that a worker may be given.
	HeartbeatTimeout = 5 * time.Second
	// HeartbeatLost is the error type by which a retry policy knows an activity whose worker was lost.
	HeartbeatLost = "TemporalTimeout:Heartbeat"
	// DiscoverPatience is how long the MCP servers of a process may take, together, to start and to list their tools: time
	// enough for one that is installed when it is first run. One that has not answered by then is not asked again by itself.
	DiscoverPatience = 150 * time.Second
)

// HeartbeatInterval is how often an activity says that its worker lives which counts as lost after a timeout without. A third of
// the time, and three seconds at least, are left for one that is late.
func HeartbeatInterval(timeout time.Duration) time.Duration {
	return timeout - max(timeout/3, 3*time.Second)
}
