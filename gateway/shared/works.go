// Package shared lets concurrent callers with the same question share one computation, which runs to its end even if a
// caller leaves.
package shared

import (
	"context"
	"sync"
	"time"

	"processidea/internal/safego"
)

// Tasks are computations. Concurrent callers with the same key share one of them.
type Tasks struct {
	// MaxDuration bounds how long a computation may take. Nobody waits for a longer one.
	MaxDuration time.Duration
	// ResultTTL returns how long a result is kept for later callers. awaited: a caller was asked to come back.
	ResultTTL func(awaited bool, err error) time.Duration

	slots     chan struct{} // nil: no limit on concurrent computations
	mu        sync.Mutex
	taskByKey map[string]*Task
}

// LimitConcurrency limits the number of concurrent computations.
func (all *Tasks) LimitConcurrency(n int) *Tasks { all.slots = make(chan struct{}, n); return all }

// Task is one computation, under way or finished.
type Task struct {
	done             chan struct{}
	result           any
	err              error
	callerWillReturn bool // a caller was asked to come back

	mu                       sync.Mutex
	checkedCount, totalCount int
}

// SetProgress records how far the work is.
func (w *Task) SetProgress(checkedCount, totalCount int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checkedCount, w.totalCount = checkedCount, totalCount
}

// PendingError means that a caller's patience ended before the work did. It says how far the work is.
type PendingError struct{ CheckedCount, TotalCount int }

func (*PendingError) Error() string { return "shared: it is being worked out" }

// Ask returns the result of find, or its recent result. If find takes longer than patience, the error is a
// *PendingError, and the next Ask returns the result. A patience of 0 waits to the end.
func Ask[T any](
	ctx context.Context, tasks *Tasks, key string, maxWait time.Duration,
	compute func(context.Context, *Task) (T, error),
) (v T, err error) {
	task := tasks.joinOrStart(ctx, key, func(ctx context.Context, task *Task) (any,
		error) {
		return compute(ctx, task)
	})
	var timeout <-chan time.Time
	if maxWait > 0 {
		timer := time.NewTimer(maxWait)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
		return v, ctx.Err()
	case <-timeout:
		return v, tasks.markCallerWillReturn(task)
	case <-task.done:
		tasks.dropDeliveredResult(key, task)
		v, _ = task.result.(T)
		return v, task.err
	}
}

func (all *Tasks) joinOrStart(ctx context.Context, key string,
	compute func(context.Context, *Task) (any, error)) *Task {
	all.mu.Lock()
	defer all.mu.Unlock()
	task := all.taskByKey[key]
	if task == nil {
		task = &Task{done: make(chan struct{})}
		if all.taskByKey == nil {
			all.taskByKey = map[string]*Task{}
		}
		all.taskByKey[key] = task
		safego.Go("gateway.shared", func() (err error) {
			if all.slots != nil {
				all.slots <- struct{}{}
				defer func() { <-all.slots }()
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), all.MaxDuration)
			defer cancel()
			task.result, err = compute(ctx, task)
			return err
		}, func(err error) { all.finishTask(key, task, err) })
	}
	return task
}

func (all *Tasks) finishTask(key string, task *Task, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	task.err = err
	close(task.done)
	if ttl := all.ResultTTL(task.callerWillReturn, err); ttl > 0 {
		safego.AfterFunc(ttl, "gateway.shared.forget", func() { all.forgetTask(key, task) })
	} else if all.taskByKey[key] == task {
		delete(all.taskByKey, key)
	}
}

// markCallerWillReturn records that a caller was asked to come back.
func (all *Tasks) markCallerWillReturn(task *Task) error {
	all.mu.Lock()
	task.callerWillReturn = true
	all.mu.Unlock()
	task.mu.Lock()
	defer task.mu.Unlock()
	return &PendingError{task.checkedCount, task.totalCount}
}

// dropDeliveredResult drops a result once a caller that was asked to come back has received it.
func (all *Tasks) dropDeliveredResult(key string, task *Task) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if task.callerWillReturn && all.taskByKey[key] == task {
		delete(all.taskByKey, key)
	}
}

func (all *Tasks) forgetTask(key string, task *Task) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.taskByKey[key] == task {
		delete(all.taskByKey, key)
	}
}

// ForgetAll drops all results and all running work: later callers start new computations.
func (all *Tasks) ForgetAll() {
	all.mu.Lock()
	defer all.mu.Unlock()
	clear(all.taskByKey)
}
