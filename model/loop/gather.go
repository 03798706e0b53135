package loop

import (
	"time"

	"processidea/model/ideafile"
)

// This file holds the rule that nobody waits for a stranger: which instances are ready for a Request, and whether it is
// made now or waits for more of them.

// ready lists the instances that could be asked about: nothing of them runs, no person is waited for, and what became of
// the Request before is known.
func (m *Loop) ready() []*InstanceProgress {
	var list []*InstanceProgress
	for _, mem := range m.members {
		if mem.standing() == ready && !m.provisional(mem) {
			list = append(list, mem)
		}
	}
	return list
}

// closing says whether only the output is still wanted.
func (m *Loop) closing() bool {
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceWorking {
			return false
		}
	}
	return true
}

// due says whether a Request is made now. It waits while an instance that it does not cover has a Call running, but no
// longer than the gathering time from when the first became ready; those that come back from a person's decision wait
// as long for others that a person still has to decide on, so that ten decisions share Requests.
func (m *Loop) due(now time.Time) bool {
	if m.closing() {
		return true
	}
	ready := m.ready()
	if len(ready) == 0 {
		m.readySince = time.Time{}
		return false
	}
	if m.readySince.IsZero() {
		m.readySince = now
	}
	running, waiting := m.others()
	until := m.readySince.Add(m.idea.Config.GatherDelay)
	if !(running || waiting && allBack(ready)) || !now.Before(until) {
		return true
	}
	m.wakeAt(until)
	return false
}

// others says whether an instance has a Call running, and whether one waits for a person.
func (m *Loop) others() (running, waiting bool) {
	for _, mem := range m.members {
		switch mem.standing() {
		case onPerson:
			waiting = true
		case busy:
			running = true
		}
	}
	return running, waiting
}

func allBack(members []*InstanceProgress) bool {
	for _, mem := range members {
		if !mem.decidedSinceRequest {
			return false
		}
	}
	return true
}

func (m *Loop) wakeAt(t time.Time) {
	if m.wake.IsZero() || t.Before(m.wake) {
		m.wake = t
	}
}

// WakeTime is when Next is to be asked again even if nothing happens; zero: never.
func (m *Loop) WakeTime() time.Time { return m.wake }
