package limit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile/limit"
	"processidea/model/jsonval"
)

func TestARateThatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`3`: `$._rate: want {"perSecond": 20}, {"atOnce": 5} or both`, `{}`: `want {"perSecond": 20}`,
		`[]`: `want {"perSecond": 20}`, `true`: `want {"perSecond": 20}`,
		`{"perSecond": 0}`:         `$._rate.perSecond: want a number from 0.001 to 1000, not 0`,
		`{"perSecond": -1}`:        `from 0.001 to 1000, not -1`,
		`{"perSecond": "20"}`:      `from 0.001 to 1000, not "20"`,
		`{"perSecond": null}`:      `from 0.001 to 1000, not null`,
		`{"perSecond": 1001}`:      `from 0.001 to 1000, not 1001`,
		`{"atOnce": 0}`:            `$._rate.atOnce: want a whole number from 1 to 1000, not 0`,
		`{"atOnce": 1.5}`:          `from 1 to 1000, not 1.5`,
		`{"atOnce": -5}`:           `from 1 to 1000, not -5`,
		`{"atOnce": "5"}`:          `from 1 to 1000, not "5"`,
		`{"atOnce": 1e99}`:         `from 1 to 1000, not 1e99`,
		`{"perMinute": 5}`:         `$._rate.perMinute: unknown key "perMinute"; a rate has atOnce and perSecond`,
		`{"atOnce": 1, "zz": "x"}`: `unknown key "zz"`,
	} {
		v, err := jsonval.Decode([]byte(text))
		ps := &diag.Problems{}
		limit.ReadRule(v, "$._rate", ps)
		if err != nil || len(ps.Errors()) != 1 || !strings.Contains(ps.Error(), want) {
			t.Errorf("%s: %v, %v", text, err, ps)
		}
	}
	for text, want := range map[string]string{`{"perSecond": 0.5}`: "0.5 a second", `{"atOnce": 5.0}`: "5 at once",
		`{"atOnce": 1, "perSecond": 20}`: "20 a second, 1 at once"} {
		v, _ := jsonval.Decode([]byte(text))
		ps := &diag.Problems{}
		if r := limit.ReadRule(v, "$", ps); len(*ps) > 0 || r.String() != want {
			t.Errorf("%s: %v, %v", text, r, ps)
		}
	}
	if limit.ReadRule(nil, "$", nil) != nil {
		t.Error("a rule where nothing is said")
	}
}

// call is one that wants a turn, asks again when it is told to, and takes its time. One that travels asks once more when
// it has a turn that is near, since it runs in another activity than the one in which it waited.
type call struct {
	key      string
	came, at time.Time // when it asks next
	begins   time.Time
	ends     time.Time
	vanishes bool // after it has asked once
	vanished bool
	over     bool
	travels  time.Duration
	arrived  bool
}

// Workers come and go; the Queue is carried through JSON as a workflow carries it.
func TestTurnsKeepTheRuleAndTheOrderAndNobodyWaitsForWhoIsGone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := limit.Rule{TurnsPerSecond: rapid.SampledFrom([]float64{0, 0.05, 0.5, 3, 20}).Draw(t, "perSecond"),
			MaxConcurrentTurns: rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "atOnce")}
		now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		var calls []*call
		most := 25
		if rule.TurnsPerSecond == 0.05 {
			most = 5 // each takes minutes where others vanish
		}
		for n := range rapid.IntRange(1, most).Draw(t, "calls") {
			came := now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "came")) * time.Millisecond)
			calls = append(calls, &call{key: fmt.Sprint(n), came: came, at: came,
				vanishes: rapid.IntRange(0, 4).Draw(t, "vanishes") == 0,
				travels:  time.Duration(rapid.SampledFrom([]int{0, 0, 100, 900, 4000}).Draw(t, "travels")) * time.Millisecond})
		}
		queue := limit.Queue{}
		for step := 0; slices.ContainsFunc(calls, func(c *call) bool { return !c.over && !c.vanished }); step++ {
			if step > 20_000 {
				t.Fatalf("somebody waits for ever: %+v", queue)
			}
			now = now.Add(50 * time.Millisecond)
			queue = carried(t, queue)
			askAll(t, &queue, rule, now, calls)
		}
		keepsRule(t, rule, calls)
	})
}

func carried(t *rapid.T, queue limit.Queue) (again limit.Queue) {
	data, err := json.Marshal(queue)
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func askAll(t *rapid.T, queue *limit.Queue, rule limit.Rule, now time.Time, calls []*call) {
	q := limit.TurnRequest{Rule: rule}
	var asking []*call
	for _, c := range calls {
		switch {
		case c.over || c.vanished:
		case !c.begins.IsZero() && !c.ends.After(now):
			c.over = true
			q.DoneKeys = append(q.DoneKeys, c.key)
		case !c.begins.IsZero():
			q.HeldKeys = append(q.HeldKeys, c.key)
		case !c.at.After(now):
			asking = append(asking, c)
		}
	}
	slices.SortStableFunc(asking, func(a, b *call) int { return a.came.Compare(b.came) })
	for _, c := range asking {
		q.WantedKeys = append(q.WantedKeys, c.key)
	}
	for n, answer := range queue.RequestTurns(now, q) {
		c := asking[n]
		c.at, c.vanished = now.Add(answer.Wait), c.vanishes
		isNear := answer.IsGranted && answer.Wait < 10*time.Second
		switch {
		case c.vanished:
		case isNear && c.travels > 0 && !c.arrived:
			c.at, c.arrived = now.Add(c.travels), true
		case !isNear && c.travels > 0:
			c.arrived = false
		case answer.IsGranted:
			c.begins = c.at
			c.ends = c.begins.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "lasts")) * time.Millisecond)
		}
	}
}

func keepsRule(t *rapid.T, rule limit.Rule, calls []*call) {
	calls = slices.DeleteFunc(calls, func(c *call) bool { return c.begins.IsZero() })
	slices.SortStableFunc(calls, func(a, b *call) int { return a.begins.Compare(b.begins) })
	for n, c := range calls {
		atOnce := 0
		for _, other := range calls {
			if !other.begins.After(c.begins) && other.ends.After(c.begins) {
				atOnce++
			}
		}
		if rule.MaxConcurrentTurns > 0 && atOnce > rule.MaxConcurrentTurns {
			t.Fatalf("%d at once: %s", atOnce, c.key)
		}
		if n == 0 || rule.TurnsPerSecond == 0 {
			continue
		}
		before := calls[n-1]
		if apart := c.begins.Sub(before.begins); apart < time.Duration(float64(time.Second)/rule.TurnsPerSecond) {
			t.Fatalf("%s and %s are %s apart", before.key, c.key, apart)
		}
	}
}

// A process with a slower rate for the Tool does not hold up those with a faster one, whoever comes first.
func TestTheFasterRateCountsForTurnsThatWereGivenUnderASlowerOne(t *testing.T) {
	t.Parallel()
	slow := limit.Rule{TurnsPerSecond: 0.001}
	for name, fast := range map[string]limit.Rule{
		"a faster one": {TurnsPerSecond: 10}, "a little faster": {TurnsPerSecond: 1},
		"at once alone": {MaxConcurrentTurns: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var queue limit.Queue
			now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			ask := func(r limit.Rule, key string) limit.TurnAnswer {
				return queue.RequestTurns(now, limit.TurnRequest{Rule: r, WantedKeys: []string{key}})[0]
			}
			if first := ask(slow, "a"); !first.IsGranted || first.Wait != 0 {
				t.Fatalf("the first is told %+v", first)
			}
			if second := ask(slow, "b"); second.IsGranted {
				t.Fatalf("the second of a thousand seconds is told %+v", second)
			}
			now = now.Add(time.Second)
			queue.RequestTurns(now, limit.TurnRequest{DoneKeys: []string{"a"}}) // says nothing of a rate
			for _, key := range []string{"c", "b"} {
				if got := ask(fast, key); !got.IsGranted || got.Wait > 2*time.Second {
					t.Errorf("%s is told %+v", key, got)
				}
			}
		})
	}
}

// A Tool may take years, and the places of a long line times that is more than a duration holds.
func TestBehindATurnThatLastsForYearsEverybodyWaitsTheLongestTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2036, 11, 28, 12, 0, 0, 0, time.UTC)
	queue := limit.Queue{Turns: []limit.QueueEntry{{Key: "a", BeginsAt: now.AddDate(-9, 0, 0), ExpiresAt: now.Add(time.Second)}}}
	wants := make([]string, 9000)
	for n := range wants {
		wants[n] = fmt.Sprint(n)
	}
	for n, answer := range queue.RequestTurns(now, limit.TurnRequest{Rule: limit.Rule{MaxConcurrentTurns: 1},
		WantedKeys: wants}) {
		if n > 0 && (answer.IsGranted || answer.Wait != limit.MaxWaitBeforeAskingAgain) {
			t.Fatalf("the %dth is told %+v", n, answer)
		}
	}
}

func TestWhatIsSpentOnADayCountsUntilItEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 22, 0, 0, 0, time.FixedZone("", -3600)) // 23:00 UTC
	queue := limit.Queue{}
	ask := func(perDay, spent float64) limit.TurnAnswer {
		q := limit.TurnRequest{Rule: limit.Rule{MaxCostPerDay: perDay}, ExtraSpentCost: spent,
			WantedKeys: []string{fmt.Sprint(now)}}
		return queue.RequestTurns(now, q)[0]
	}
	if first := ask(5, 4.5); !first.IsGranted || queue.TimeToBudgetReset(now) != time.Hour {
		t.Errorf("%+v, kept for %s", first, queue.TimeToBudgetReset(now))
	}
	now = now.Add(time.Minute)
	if second := ask(5, 0.5); second.IsGranted || second.Wait != 10*limit.MaxWaitBeforeAskingAgain {
		t.Errorf("with all spent: %+v", second)
	}
	if more := ask(6, 0); !more.IsGranted {
		t.Errorf("with a higher limit: %+v", more)
	}
	now = now.Add(time.Hour)
	if next := ask(5, 0); !next.IsGranted || queue.TimeToBudgetReset(now) != 0 {
		t.Errorf("on the next day: %+v, %+v", next, queue)
	}
}

func TestWhoAskedFirstIsFirstAndATurnOfOneWhoIsGoneEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	queue, rule := limit.Queue{}, limit.Rule{MaxConcurrentTurns: 1}
	ask := func(after time.Duration, wants ...string) []limit.TurnAnswer {
		now = now.Add(after)
		return queue.RequestTurns(now, limit.TurnRequest{Rule: rule, WantedKeys: wants})
	}
	if a := ask(0, "a"); !a[0].IsGranted {
		t.Fatal("the first has no turn")
	}
	ask(time.Second, "b")
	if c := ask(time.Second, "c", "b"); c[0].IsGranted || c[1].IsGranted || c[0].Wait < c[1].Wait {
		t.Errorf("with one turn: %+v", c)
	}
	for range 3 { // b and c come again and again, nobody says that the turn of a lasts
		ask(9*time.Second, "c", "b")
	}
	if c := ask(2*time.Second, "c", "b"); c[0].IsGranted || !c[1].IsGranted {
		t.Errorf("once a is gone: %+v, %+v", c, queue)
	}
	if c := queue.RequestTurns(now, limit.TurnRequest{Rule: rule, DoneKeys: []string{"b"}, WantedKeys: []string{"c"}}); !c[0].IsGranted {
		t.Errorf("after b: %+v", c)
	}
}

// latecomer asks when at has come. It stays where its turn is near; else it comes again through the gate.
type latecomer struct {
	key         string
	at, ends    time.Time
	stays, over bool
}

// Who was told to come later comes back through a gate that lets one a second through, as a task queue with a rate
// does: most come long after the time they were told.
func TestTurnsAreTakenWhereAlmostAllComeBackLate(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]limit.Rule{"a rate": {TurnsPerSecond: 0.5}, "at once": {MaxConcurrentTurns: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
			queue, waiting := limit.Queue{}, make([]latecomer, 150)
			for n := range waiting {
				waiting[n].key = fmt.Sprint(n)
			}
			for seconds := 0; slices.ContainsFunc(waiting, func(w latecomer) bool { return !w.over }); seconds++ {
				now = now.Add(time.Second)
				askThroughGate(&queue, rule, now, waiting)
				if seconds > 400 {
					t.Fatalf("a turn of two seconds a Call, and not all had one in 400 s: %+v", waiting)
				}
			}
		})
	}
}

func askThroughGate(queue *limit.Queue, rule limit.Rule, now time.Time, waiting []latecomer) {
	q := limit.TurnRequest{Rule: rule}
	var asking []*latecomer
	var first *latecomer
	for n := range waiting {
		w := &waiting[n]
		switch {
		case w.over:
		case !w.ends.IsZero():
			if w.over = !w.ends.After(now); w.over {
				q.DoneKeys = append(q.DoneKeys, w.key)
			}
		case !w.at.After(now) && w.stays:
			asking = append(asking, w)
		case !w.at.After(now) && (first == nil || w.at.Before(first.at)):
			first = w
		}
	}
	if first != nil {
		asking = append(asking, first)
	}
	for _, w := range asking {
		q.WantedKeys = append(q.WantedKeys, w.key)
	}
	for n, answer := range queue.RequestTurns(now, q) {
		w := asking[n]
		if w.at, w.stays = now.Add(answer.Wait), answer.Wait <= limit.MaxPollingWait; answer.IsGranted {
			w.ends = w.at.Add(2 * time.Second)
		}
	}
}

func TestWhoComesAboutWhenToldToIsOvertakenByNobody(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]limit.Rule{"fast": {TurnsPerSecond: 4}, "slow": {TurnsPerSecond: 0.1},
		"one": {TurnsPerSecond: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
			queue, waiting := limit.Queue{}, make([]latecomer, 60)
			for n := range waiting {
				waiting[n] = latecomer{key: fmt.Sprint(n), at: came.Add(time.Duration(n) * 400 * time.Millisecond)}
			}
			var order []string
			for now := came; len(order) < len(waiting); now = now.Add(50 * time.Millisecond) {
				for n := range waiting {
					w := &waiting[n]
					if w.over || w.at.After(now) {
						continue
					}
					answer := queue.RequestTurns(now, limit.TurnRequest{Rule: rule, WantedKeys: []string{w.key}})[0]
					if w.at = now.Add(answer.Wait); answer.Wait > limit.MaxPollingWait {
						w.at = w.at.Add(time.Duration(n%4) * 500 * time.Millisecond)
					}
					if w.over = answer.IsGranted; w.over {
						order = append(order, w.key)
						queue.RequestTurns(now, limit.TurnRequest{DoneKeys: []string{w.key}})
					}
				}
			}
			for n, key := range order {
				if key != fmt.Sprint(n) {
					t.Fatalf("the turns were given in the order %v", order)
				}
			}
		})
	}
}

func TestAnUrgentOneIsTheNextHoweverManyWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	queue, rule := limit.Queue{}, limit.Rule{TurnsPerSecond: 0.1}
	ask := func(level int, keys ...string) limit.TurnAnswer {
		levels := slices.Repeat([]int{level}, len(keys))
		return queue.RequestTurns(now, limit.TurnRequest{Rule: rule, WantedKeys: keys, PriorityLevels: levels})[0]
	}
	if first := ask(3, "first"); !first.IsGranted {
		t.Fatal("the first has no turn")
	}
	var many []string
	for n := range 12_000 { // more than there are places
		many = append(many, fmt.Sprint(n))
	}
	ask(0, many...)
	ask(5, "patient")
	if two := ask(2, "two"); two.Wait > 10*time.Second {
		t.Errorf("one of level 2 is told to wait %s", two.Wait)
	}
	if one := ask(1, "one"); one.Wait > 10*time.Second {
		t.Errorf("one of level 1 is told to wait %s", one.Wait)
	}
	if three := ask(3, "0"); three.Wait < 20*time.Second {
		t.Errorf("the first of the others is told to wait %s", three.Wait)
	}
	now = now.Add(7 * time.Second)
	ask(2, "two")
	ask(1, "one")
	now = now.Add(2 * time.Second)
	if two, one := ask(2, "two"), ask(1, "one"); two.IsGranted || !one.IsGranted {
		t.Errorf("of both the urgent one is told %+v, the other %+v", one, two)
	}
	now = now.Add(7 * time.Second)
	ask(2, "two")
	now = now.Add(3 * time.Second)
	if three, two := ask(3, "0"), ask(2, "two"); three.IsGranted || !two.IsGranted {
		t.Errorf("the next is told %+v, one behind it %+v", two, three)
	}
}
