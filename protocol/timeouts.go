package protocol

import "time"

const (
	// HeartbeatTimeout is after how long without a heartbeat a worker counts as lost.
	HeartbeatTimeout = 5 * time.Second
	// HeartbeatLost is the error type by which a retry policy knows an activity whose worker was lost.
	HeartbeatLost = "TemporalTimeout:Heartbeat"
	// DiscoverPatience is how long the MCP servers of a process may take, together, to start and to list their tools: time
	// enough for one that is installed when it is first run. One that has not answered by then is not asked again by itself.
	DiscoverPatience = 150 * time.Second
)
