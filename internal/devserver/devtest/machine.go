package devtest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// The go command runs the tests of several packages at the same time. On a small machine that starves two servers and
// two workers until heartbeats come too late, and makes a test that compares their speed meaningless. So such a test
// has the machine to itself, and the other large suites wait for it.

// LockMachineShared waits until no test has the machine to itself. No test then gets it alone until release is called.
func LockMachineShared() (release func(), err error) { return lockMachine((*flock.Flock).RLock) }

// LockMachineExclusive waits until no large suite runs. No large suite then starts until release is called.
func LockMachineExclusive() (release func(), err error) { return lockMachine((*flock.Flock).Lock) }

func lockMachine(acquireLock func(*flock.Flock) error) (release func(), err error) {
	l := flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("process-idea-tests-%d.lock", os.Getuid())))
	if err := acquireLock(l); err != nil {
		return nil, fmt.Errorf("devtest: wait for other tests: %w", err)
	}
	return func() { _ = l.Unlock() }, nil
}
