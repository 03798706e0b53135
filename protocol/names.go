package protocol

// These names are in histories and in users' scripts. They never change.
const (
	TaskQueue = "process-idea"
	// RequestQueue is the task queue of Requests to the worker's own LLM: the server keeps its rate over all workers.
	RequestQueue = "process-idea-requests"

	ProcessType  = "Process"
	InstanceType = "Instance"
	LimitType    = "Limit"

	ActivityPrepare = "Prepare"
	ActivityRequest = "Request"
	// ActivitySendLLMBatch and ActivityReadLLMBatch send a Request through the LLM's batch interface, and fetch the
	// answer.
	ActivitySendLLMBatch  = "SendBatch"
	ActivityReadLLMBatch  = "ReadBatch"
	ActivityExecute       = "Execute"
	ActivityExecuteBatch  = "Burst"
	ActivitySeal          = "Seal"
	ActivityIsProcessGone = "Gone"
	ActivityDeliver       = "Deliver"
	ActivityGather        = "Gather"
	// ActivityDiscover asks MCP servers for their tools.
	ActivityDiscover = "Discover"
	// ActivityNotify notifies people of what waits for them.
	ActivityNotify = "Notify"
	// ActivityLoadObject reads members of a stored object: Tools of a palette, the Idea file of a delegate.
	ActivityLoadObject = "Load"
	// ActivityUpdateBlobs updates values in the store.
	ActivityUpdateBlobs = "Combine"

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
	// SignalInstanceReport reports to a process what became of an instance's Calls (turn.ReportSignal). The instance
	// sends it.
	SignalInstanceReport = "report"
	// SignalPartReport reports to a process the progress of one of its parts (split.PartReport). The part sends it.
	SignalPartReport = "part"
	// SignalDelegateReport reports to an instance the progress of a Call's delegate (DelegateReport). The delegate
	// sends it.
	SignalDelegateReport = "delegate"
	// SignalHold stops an instance from starting anything new, or lets it resume (HoldSignal). The process sends it.
	SignalHold = "hold"
	// SignalSteerChild steers a part or a delegate (SteerChildSignal). Its parent, a process or an instance, sends it.
	SignalSteerChild = "lead"
	// SignalCorrect brings a person's correction to an instance (CorrectionSignal). The process sends it.
	SignalCorrect = "correct"
	// SignalRequestHoldUp reports to a process what its Request waits for (RequestHoldUpSignal). The waiting activity
	// sends it.
	SignalRequestHoldUp = "heldUp"
	// SignalWorkerHoldUp reports to a process what holds up all of a worker's work for it (WorkerHoldUpSignal). The
	// worker repeats it while the cause lasts.
	SignalWorkerHoldUp = "holdUp"

	// UpdateOutcome asks what became of acts (OutcomeQuestion, OutcomeAnswer). For a workflow that has ended, a query
	// of the same name answers at once.
	UpdateOutcome = "outcome"

	// UpdateTurns asks a limit whose turn it is (limit.TurnRequest; the answer has a limit.TurnAnswer for each). A
	// worker asks for all its Calls together.
	UpdateTurns = "turns"

	QueryStatus    = "status"
	QueryIdea      = "idea"
	QueryApprovals = "approvals"
	// QueryPlan asks a process for the statuses of the Calls of its latest Plan (PlanProgress).
	QueryPlan = "plan"

	// MemoPath, MemoVersion and MemoFileDigest describe a process: its Idea's path and version, and the digest of the
	// file.
	MemoPath       = "path"
	MemoVersion    = "version"
	MemoFileDigest = "file"
	// MemoFailedCallCount counts the failed or blocked Calls of an ended process; absent if there were none.
	MemoFailedCallCount = "failedCalls"
	// MemoUndoneCallCount counts the Calls that the process has undone itself.
	MemoUndoneCallCount = "undoneCalls"

	// The search attributes, where they are registered.
	AttributeStatus   = "IdeaStatus"
	AttributeAwaiting = "IdeaAwaiting"
	AttributePath     = "IdeaPath"

	// MetricProcesses counts processes by status and code.
	MetricProcesses = "processidea_processes"

	// StatusHeldUp is the value of AttributeStatus for a running process that is held up.
	StatusHeldUp = "held up"
)
