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

// Status is where a Call stands.
type Status string

// The statuses of a Call. Waiting and running ones are unfinished, the others are ends.
const (
	Waiting          Status = "waiting"
	AwaitingApproval Status = "awaiting-approval"
	Running          Status = "running"
	Done             Status = "done"
	Failed           Status = "failed"
	Rejected         Status = "rejected"
	Skipped          Status = "skipped"
	Blocked          Status = "blocked"
)

// Ended says whether a Call of this status will change no more.
func (s Status) Ended() bool {
	return s != Waiting && s != AwaitingApproval && s != Running
}
