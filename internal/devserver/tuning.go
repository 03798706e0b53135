package devserver

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/worker"
	dc "go.temporal.io/server/common/dynamicconfig"

	"processidea/internal/heap"
)

// dynamicConfig makes the server answer as fast as one machine can. Temporal's defaults are for clusters, where
// frequent reads of a queue slow down other tenants. Here they would cost 50 ms a hop. Durations must be time.Duration:
// a bare number would be read as seconds.
var dynamicConfig = dc.StaticClient{
	// The task queues are read 20 times a second by default: 50 ms for every step of every workflow. Reading more often
	// than this finds few tasks each time, and adds 3 ms between the byte that closes a Call and its tool.
	dc.TransferProcessorMaxPollRPS.Key(): 200,
	dc.TimerProcessorMaxPollRPS.Key():    200,
	// By default a queue with more than 500 waiting tasks goes to a second reader, which gets only the reads that the
	// first one leaves. With one namespace nothing is left, so timers were up to a minute late.
	dc.TransferQueueMaxReaderCount.Key():   1,
	dc.VisibilityQueueMaxReaderCount.Key(): 1,
	dc.TimerQueueMaxReaderCount.Key():      1,
	// The tasks of a busy workflow wait in a queue of their own. Otherwise each task waits half a second for the
	// workflow's lock, again and again, and two seconds more after ten attempts.
	dc.TaskSchedulerEnableExecutionQueueScheduler.Key(): true,
	// One worker writes visibility steadily. By default the server writes everything that has gathered at once, twenty
	// times a second, and workflows wait 20 to 30 ms for the only connection to the file.
	dc.VisibilityProcessorSchedulerWorkerCount.Key(): 1,
	// Finished tasks are dropped this often. In the default half minute ten thousand gather, and every read looks at
	// all of them.
	dc.TransferProcessorUpdateAckInterval.Key():   3 * time.Second,
	dc.VisibilityProcessorUpdateAckInterval.Key(): 3 * time.Second,
	dc.TimerProcessorUpdateAckInterval.Key():      3 * time.Second,
	// The number of workflows kept in memory, including ended ones: by default all of the last hour.
	dc.HistoryCacheHostLevelMaxSize.Key(): 4_000,
	// If more events than this arrive during a workflow task, the task fails and the worker has to replay. The default
	// is 100. A Call that ends makes two events, and 200 Calls of an instance may end together.
	dc.MaximumBufferedEventsBatch.Key(): 1_000,
	// Timers may be this late; by default a timer of 10 ms lasts a second.
	dc.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,
	// The minimum time between two runs of one workflow id. By default every continue-as-new waits a second.
	dc.WorkflowIdReuseMinimalInterval.Key(): 20 * time.Millisecond,
	// The interval at which a client that waits for a result asks again. The server drops the notification of a
	// workflow's end if the client has not taken the previous one yet. That happens in up to one of a hundred short
	// workflows; by default they then seem to last 20 s.
	dc.HistoryLongPollExpirationInterval.Key(): 250 * time.Millisecond,
	// One server process gains nothing from more than one partition. By default there are four, and a task in a
	// partition that no worker polls is passed on only after 100 ms.
	dc.MatchingNumTaskqueueReadPartitions.Key():  1,
	dc.MatchingNumTaskqueueWritePartitions.Key(): 1,
	// Priorities and fair shares apply as soon as a process uses them. By default a server's operator turns them on.
	dc.MatchingAutoEnableV2.Key(): true,
	// Nobody else uses the file, so reads need no protection from a burst of workflows. The numbers are from Temporal's
	// own development server.
	dc.FrontendPersistenceMaxQPS.Key(): 10_000,
	dc.HistoryPersistenceMaxQPS.Key():  45_000,
	// The rate of list requests per second, for all callers together. The default is ten: two programs and a page would
	// be refused.
	dc.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 200,
	// By default every service caches search attributes for 2 s. A workflow that uses a newly registered attribute
	// would then fail its task.
	dc.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
	// Off: the server's own external storage for payloads, which would search the payloads of all events.
	dc.ExternalPayloadsEnabled.Key(): false,
	// A worker that stops gets no more tasks. Otherwise a task can go to a poll that the worker has just abandoned, and
	// is retried only seconds later.
	dc.EnableCancelWorkerPollsOnShutdown.Key(): true,
	// The server would ask Temporal for newer versions. This program contacts nobody.
	dc.EnableServerVersionCheck.Key(): false,
	// System workflows that clean up in a cluster. Here they have nothing to do, and stopping them takes a second.
	dc.TaskQueueScannerEnabled.Key():       false,
	dc.HistoryScannerEnabled.Key():         false,
	dc.BuildIdScavengerEnabled.Key():       false,
	dc.EnableParentClosePolicyWorker.Key(): false,
}

// defaultMemoryLimit is the limit for Go's memory in the program around the server. An idle server takes 45 MB, plus
// the size of its file.
const defaultMemoryLimit = 256 << 20

// tuneRuntime tunes the Go runtime of the program around the server, unless its environment does.
func tuneRuntime(memoryLimit int64) {
	// The server makes much garbage and keeps little. Collecting half as often saves a tenth of the CPU time and costs
	// a hundred megabytes. Near the memory limit Go still collects as often as needed.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	heap.SetSoftLimit(cmp.Or(memoryLimit, heap.DefaultLimit(defaultMemoryLimit)))
	// Workers identify the program by a checksum of the whole binary, which takes half of the server's start. The
	// file's size and time identify it just as well.
	if program, err := os.Executable(); err == nil {
		if info, err := os.Stat(program); err == nil {
			worker.SetBinaryChecksum(fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()))
		}
	}
}
