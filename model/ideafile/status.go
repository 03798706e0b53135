package ideafile

// InstanceStatus is where an instance stands.
type InstanceStatus string

// The statuses of an instance.
const (
	InstanceWorking InstanceStatus = "working"
	InstanceWaiting InstanceStatus = "waiting"
	InstanceSettled InstanceStatus = "settled"
	InstanceFailed  InstanceStatus = "failed"
)

// CallStatus is where a Call stands.
type CallStatus string

// The statuses of a Call. Waiting and running ones are unfinished, the others are ends.
const (
	Waiting          CallStatus = "waiting"
	AwaitingApproval CallStatus = "awaiting-approval"
	Running          CallStatus = "running"
	Done             CallStatus = "done"
	Failed           CallStatus = "failed"
	Rejected         CallStatus = "rejected"
	Skipped          CallStatus = "skipped"
	Blocked          CallStatus = "blocked"
)

// Ended says whether a Call of this status will change no more.
func (s CallStatus) Ended() bool {
	return s != Waiting && s != AwaitingApproval && s != Running
}
