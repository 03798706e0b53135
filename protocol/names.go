package protocol

// These names are in histories and in users' scripts. They never change.
const (
	TaskQueue = "process-idea"
	// RequestTaskQueue is the task queue of Requests to the worker's own LLM: the server keeps its rate over all
	// workers.
	RequestTaskQueue = "process-idea-requests"

	ProcessType  = "Process"
	InstanceType = "Instance"
	LimitType    = "Limit"

	ActivityPrepareProcess = "Prepare"
	ActivityRequestLLM     = "Request"
	// ActivitySendLLMBatch and ActivityReadLLMBatch send a Request through the LLM's batch interface, and fetch the
	// answer.
	ActivitySendLLMBatch   = "SendBatch"
	ActivityReadLLMBatch   = "ReadBatch"
	ActivityExecute        = "Execute"
	ActivityExecuteBatch   = "Burst"
	ActivitySealIdea       = "Seal"
	ActivityIsProcessGone  = "Gone"
	ActivityDeliverSignals = "Deliver"
	ActivityGatherParts    = "Gather"
	// ActivityDiscoverMCPTools asks MCP servers for their tools.
	ActivityDiscoverMCPTools = "Discover"
	// ActivityNotifyPeople notifies people of what waits for them.
	ActivityNotifyPeople = "Notify"
	// ActivityLoadObject reads members of a stored object: Tools of a palette, the Idea file of a delegate.
	ActivityLoadObject = "Load"
	// ActivityUpdateBlobs updates values in the store.
	ActivityUpdateBlobs = "Combine"

	// ActivityVerifyProof checks the proof of a decision with the keys that the worker trusts.
	ActivityVerifyProof = "VerifyProof"

	// ActivityAwaitStore waits until the store can be written.
	ActivityAwaitStore = "AwaitStore"
	// ActivityAwaitLimitTurn waits until a Call of a Tool with a limit may run.
	ActivityAwaitLimitTurn = "AwaitTurn"

	// SignalCalls hands Calls of a Request to an instance (CallsSignal). The Request activity sends it.
	SignalCalls = "calls"
	// SignalCloseRequest ends a Request at an instance (CloseRequestSignal). The process sends it.
	SignalCloseRequest = "close"
	// SignalEndInstance ends an instance (EndInstanceSignal). The process sends it.
	SignalEndInstance = "end"
	// SignalInstanceReport reports to a process what became of an instance's Calls (turn.ReportSignal). The instance
	// sends it.
	SignalInstanceReport = "report"
	// SignalPartReport reports to a process the progress of one of its parts (split.PartReport). The part sends it.
	SignalPartReport = "part"
	// SignalDelegateReport reports to an instance the progress of a Call's delegate (DelegateReport). The delegate
	// sends it.
	SignalDelegateReport = "delegate"
	// SignalHoldInstance stops an instance from starting anything new, or lets it resume (HoldInstanceSignal). The
	// process sends it.
	SignalHoldInstance = "hold"
	// SignalSteerChild steers a part or a delegate (SteerChildSignal). Its parent, a process or an instance, sends it.
	SignalSteerChild = "lead"
	// SignalCorrectInstance brings a person's correction to an instance (CorrectInstanceSignal). The process sends it.
	SignalCorrectInstance = "correct"
	// SignalRequestHoldUp reports to a process what its Request waits for (RequestHoldUpSignal). The waiting activity
	// sends it.
	SignalRequestHoldUp = "heldUp"
	// SignalWorkerHoldUp reports to a process what holds up all of a worker's work for it (WorkerHoldUpSignal). The
	// worker repeats it while the cause lasts.
	SignalWorkerHoldUp = "holdUp"

	// UpdateActOutcomes asks what became of acts (ActOutcomesQuestion, ActOutcomesAnswer). For a workflow that has
	// ended, a query of the same name answers at once.
	UpdateActOutcomes = "outcome"

	// UpdateLimitTurns asks a limit whose turn it is (limit.TurnRequest; the answer has a limit.TurnAnswer for each). A
	// worker asks for all its Calls together.
	UpdateLimitTurns = "turns"

	QueryStatus    = "status"
	QueryIdea      = "idea"
	QueryApprovals = "approvals"
	// QueryPlanProgress asks a process for the statuses of the Calls of its latest Plan (PlanProgress).
	QueryPlanProgress = "plan"

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
	AttributeStatus           = "IdeaStatus"
	AttributePendingDecisions = "IdeaAwaiting"
	AttributePath             = "IdeaPath"

	// MetricProcesses counts processes by status and code.
	MetricProcesses = "processidea_processes"

	// StatusHeldUp is the value of AttributeStatus for a running process that is held up.
	StatusHeldUp = "held up"
)
