package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// figures is printed at the end, as a table and as JSON.
type figures struct {
	Seed             uint64         `json:"seed"`
	Kills            map[string]int `json:"kills"` // by victim
	Moments          []killMoment   `json:"moments"`
	Processes        int            `json:"processes"`
	BaselineSeconds  float64        `json:"undisturbedSeconds"` // one run of all cases
	SlowestSeconds   float64        `json:"slowestSeconds"`     // from the last kill of a wave to the end of the wave
	Effects          int            `json:"effects"`            // requests to tools by HTTP, repetitions not counted
	RepeatedRequests int            `json:"repeated"`           // repetitions of these requests under the same key
	PersonQuestions  int            `json:"asked"`              // times that a person was asked about an unknown outcome
	Events           int            `json:"events"`             // in all histories
	// LostActivities and LostTasks timed out with their worker. FailedTasks failed and were retried.
	LostActivities int         `json:"lostActivities"`
	LostTasks      int         `json:"lostTasks"`
	FailedTasks    int         `json:"failedTasks"`
	Violations     []violation `json:"broken"`

	mu               sync.Mutex
	countedQuestions map[string]bool // what Asked has counted already
}

// killMoment is one kill: its victim, and how long it came after the one before.
type killMoment struct {
	Victim       string  `json:"victim"`
	AfterSeconds float64 `json:"afterSeconds"`
}

// violation is a rule that did not hold.
type violation struct {
	Rule    string `json:"rule"`
	Subject string `json:"where"`
	Detail  string `json:"what"`
}

func newFigures(o options) *figures {
	return &figures{Seed: o.seed, Kills: map[string]int{}, Moments: []killMoment{}, Violations: []violation{},
		countedQuestions: map[string]bool{}}
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

func (f *figures) addKill(victim string, delay time.Duration) {
	f.Kills[victim]++
	f.Moments = append(f.Moments, killMoment{victim, seconds(delay)})
	fmt.Printf("kill %d: %s, after %.2f s\n", len(f.Moments), victim, seconds(delay))
}

func (f *figures) killCount() int { return len(f.Moments) }

// countQuestion counts that a person was asked about something. It counts each question once, however long it waits.
func (f *figures) countQuestion(question string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.countedQuestions[question] {
		f.countedQuestions[question] = true
		f.PersonQuestions++
	}
}

func (f *figures) addViolation(rule, subject, format string, args ...any) {
	b := violation{rule, subject, fmt.Sprintf(format, args...)}
	fmt.Printf("BROKEN: %s: %s: %s\n", b.Rule, b.Subject, b.Detail)
	f.Violations = append(f.Violations, b)
}

// print prints the table. It writes the JSON to the file, or prints it after the table if there is none.
func (f *figures) print(file string) error {
	fmt.Printf(`
| crash | |
| --- | --- |
| seed | %d |
| kills: worker, server, both | %d, %d, %d |
| processes | %d |
| one undisturbed run of all cases; slowest end after the last kill, s | %.1f; %.1f |
| effects by HTTP; repeated under the same key | %d; %d |
| a person was asked for an unknown outcome | %d |
| history events; activities and workflow tasks lost with a worker; workflow tasks failed | %d; %d, %d; %d |
| rules broken | %d |

`, f.Seed, f.Kills["worker"], f.Kills["server"], f.Kills["both"], f.Processes, f.BaselineSeconds,
		f.SlowestSeconds, f.Effects,
		f.RepeatedRequests, f.PersonQuestions, f.Events, f.LostActivities, f.LostTasks, f.FailedTasks,
		len(f.Violations))
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if file != "" {
		return os.WriteFile(file, append(data, '\n'), 0o600)
	}
	_, err = fmt.Println(string(data))
	return err
}
