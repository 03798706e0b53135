package protocol

// These names are in histories and in users' scripts. They never change.
const (
	TaskQueue = "process-idea"
	// RequestQueue is that of Requests to the worker's own LLM: the server keeps its rate over all workers.
	RequestQueue = "process-idea-requests"

	ProcessType  = "Process"
	InstanceType = "Instance"
	LimitType    = "Limit"

	ActivityPrepare = "Prepare"
	ActivityRequest = "Request"
	// ActivitySendBatch and ActivityReadBatch send a Request through the LLM's batch interface, and fetch the answer.
	ActivitySendBatch     = "SendBatch"
	ActivityReadBatch     = "ReadBatch"
	ActivityExecute       = "Execute"
	ActivityBurst         = "Burst"
	ActivitySeal          = "Seal"
	ActivityIsProcessGone = "Gone"
	ActivityDeliver       = "Deliver"
	ActivityGather        = "Gather"
	// ActivityDiscover asks MCP servers for their tools.
	ActivityDiscover = "Discover"
	// ActivityNotify tells people what waits for them.
	ActivityNotify = "Notify"
	// ActivityLoad reads members of a stored object: Tools of a palette, the Idea file of a delegate.
	ActivityLoad = "Load"
	// ActivityCombine updates values that lie in the store.
	ActivityCombine = "Combine"

	// ActivityVerifyProof checks the proof of a decision with the keys that the worker trusts.
	ActivityVerifyProof = "VerifyProof"

	// ActivityAwaitStore waits until the store can be written.
	ActivityAwaitStore = "AwaitStore"
	// ActivityAwaitTurn waits until a Call of a Tool with a limit may run.
	ActivityAwaitTurn = "AwaitTurn"

	// SignalCalls hands Calls of a Request to an instance (CallsSignal). The Request activity sends it.
	SignalCalls = "calls"
	// SignalClose ends a Request at an instance (CloseSignal). The process sends it.
	SignalClose = "close"
	// SignalEnd ends an instance (EndSignal). The process sends it.
	SignalEnd = "end"
	// SignalReport tells a process what became of an instance's Calls (turn.ReportSignal). The instance sends it.
	SignalReport = "report"
	// SignalPart tells a process what a part of it has come to (split.PartReport). The part sends it.
	SignalPart = "part"
	// SignalDelegate tells an instance what the delegate of a Call has come to (DelegateReport). The delegate sends it.
	SignalDelegate = "delegate"
	// SignalHold keeps an instance from starting anything new, and lets it go on (HoldSignal). The process sends it.
	SignalHold = "hold"
	// SignalSteerChild steers a part or a delegate (SteerChildSignal). The process or the instance that it works for
	// sends it.
	SignalSteerChild = "lead"
	// SignalCorrect brings a person's correction to an instance (CorrectionSignal). The process sends it.
	SignalCorrect = "correct"
	// SignalRequestHeldUp tells a process what its Request waits for (RequestHeldUpSignal). The activity that waits
	// sends it.
	SignalRequestHeldUp = "heldUp"
	// SignalWorkerHoldUp tells a process what holds up all that a worker does for it (WorkerHoldUpSignal). The worker
	// sends it, again and again while that lasts.
	SignalWorkerHoldUp = "holdUp"

	// UpdateOutcome asks what became of acts (OutcomeQuestion, OutcomeAnswer). A query of this name answers at once,
	// for a workflow that has ended.
	UpdateOutcome = "outcome"

	// UpdateTurns asks a limit whose turn it is (limit.TurnRequest, and a limit.Turn for each). A worker asks for all
	// its Calls together.
	UpdateTurns = "turns"

	QueryStatus    = "status"
	QueryIdea      = "idea"
	QueryApprovals = "approvals"
	// QueryPlan asks a process how the Calls of its latest Plan stand (PlanProgress).
	QueryPlan = "plan"

	// MemoPath, MemoVersion and MemoFile describe a process: its Idea's path and version, and the digest of the file.
	MemoPath    = "path"
	MemoVersion = "version"
	MemoFile    = "file"
	// MemoFailedCalls counts the failed or blocked Calls of an ended process; absent if there were none.
	MemoFailedCalls = "failedCalls"
	// MemoUndoneCalls counts those that it has undone itself.
	MemoUndoneCalls = "undoneCalls"

	// The search attributes, where they are registered.
	AttributeStatus   = "IdeaStatus"
	AttributeAwaiting = "IdeaAwaiting"
	AttributePath     = "IdeaPath"

	// MetricProcesses counts processes by status and code.
	MetricProcesses = "processidea_processes"

	// StatusHeldUp is AttributeStatus of a process that runs and is held up.
	StatusHeldUp = "held up"
)
