package devserver

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/worker"
	dc "go.temporal.io/server/common/dynamicconfig"
)

// tuning makes the server answer at the speed of one person's machine. Its defaults are for
// clusters, where a queue read too often costs somebody else; here they cost 50 ms a hop.
// A duration must be one: a bare number would be read as seconds.
var tuning = dc.StaticClient{
	// The queues of what to do next are read 20 times a second by default: 50 ms for every step
	// of every workflow. More than this makes every read one of few tasks, and the closing byte of a Call 3 ms farther from
	// its tool.
	dc.TransferProcessorMaxPollRPS.Key(): 200,
	dc.TimerProcessorMaxPollRPS.Key():    200,
	// A queue with more than 500 tasks waiting is otherwise handed to a second reader with what the first one leaves of the
	// reads, which is nothing where there is one namespace: timers were up to a minute late.
	dc.TransferQueueMaxReaderCount.Key():   1,
	dc.VisibilityQueueMaxReaderCount.Key(): 1,
	dc.TimerQueueMaxReaderCount.Key():      1,
	// What a busy workflow is to do next waits in a line of its own. Otherwise each task waits half a second for the
	// workflow's lock, again and again, and after ten times in vain two seconds more.
	dc.TaskSchedulerEnableExecutionQueueScheduler.Key(): true,
	// What lists show of a workflow is written by one at a time, beside what moves it. By default twenty times a second all
	// that has gathered is written at once, and through the one connection to the file workflows wait 20 to 30 ms for it.
	dc.VisibilityProcessorSchedulerWorkerCount.Key(): 1,
	// What is done is let go of this often. In the default half minute ten thousand tasks gather, all of which are looked at
	// whenever more are read.
	dc.TransferProcessorUpdateAckInterval.Key():   3 * time.Second,
	dc.VisibilityProcessorUpdateAckInterval.Key(): 3 * time.Second,
	dc.TimerProcessorUpdateAckInterval.Key():      3 * time.Second,
	// Workflows that are kept in memory, the ended ones among them: an hour of them by default.
	dc.HistoryCacheHostLevelMaxSize.Key(): 4_000,
	// A workflow task is failed when more events than this come while it is under way, and the worker has to replay: the
	// default is 100, each Call that ends is two, and 200 of an instance may end together.
	dc.MaximumBufferedEventsBatch.Key(): 1_000,
	// Timers may be this late; the default makes one of 10 ms last a second.
	dc.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,
	// Between two runs of one workflow id. The default makes every continue-as-new wait a second.
	dc.WorkflowIdReuseMinimalInterval.Key(): 20 * time.Millisecond,
	// Whoever waits for a result asks again after this. A notification can be lost, in about one
	// of a hundred short workflows, which then seem to last 20 s by default.
	dc.HistoryLongPollExpirationInterval.Key(): 2 * time.Second,
	// Four partitions by default, and a task in one that no worker polls just now is passed on
	// only after 100 ms. One process has nothing to gain from more than one.
	dc.MatchingNumTaskqueueReadPartitions.Key():  1,
	dc.MatchingNumTaskqueueWritePartitions.Key(): 1,
	// The file is ours alone: nobody else's reads have to be protected from a burst of
	// workflows. The numbers are those of Temporal's own development server.
	dc.FrontendPersistenceMaxQPS.Key(): 10_000,
	dc.HistoryPersistenceMaxQPS.Key():  45_000,
	// Every part of the server keeps search attributes for 2 s otherwise, so that a workflow which
	// uses one that was just registered would fail its task.
	dc.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
	// A worker that stops is given nothing more. Without it, a task that goes to a poll which the worker has just hung up
	// on is missed only seconds later.
	dc.EnableCancelWorkerPollsOnShutdown.Key(): true,
	// Asks Temporal's servers for newer versions otherwise. This program calls nobody.
	dc.EnableServerVersionCheck.Key(): false,
	// What tidies up in a cluster by night, as workflows of the server's own. Nothing is left for them here, and stopping
	// them takes a second of every stop.
	dc.TaskQueueScannerEnabled.Key():       false,
	dc.HistoryScannerEnabled.Key():         false,
	dc.BuildIdScavengerEnabled.Key():       false,
	dc.EnableParentClosePolicyWorker.Key(): false,
}

// tuneRuntime tunes the program around the server, where its environment does not.
func tuneRuntime() {
	// The server makes much garbage and keeps little. Collecting it half as often saves a tenth of the processor's time and
	// costs a hundred megabytes; from the limit on it is collected as often as it takes.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(5 << 28) // 1.25 GiB
	}
	// Workers tell programs apart by a digest over the whole of them, half of the time that the server takes to start.
	if program, err := os.Executable(); err == nil {
		if info, err := os.Stat(program); err == nil {
			worker.SetBinaryChecksum(fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()))
		}
	}
}
