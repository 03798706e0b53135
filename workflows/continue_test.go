package workflows_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/protocol"
)

// unseen are scenarios in which it would be noticed if something were lost, or done twice, between two runs of a
// workflow.
var unseen = map[string]func(*testing.T){
	"a process settles":               TestAProcessWithOneInstanceRunsItsCallsAndSettles,
	"instances see their own State":   TestAnInstancesCallsSeeOnlyItsOwnState,
	"a broken Call is answered":       TestABrokenCallIsAnsweredInTheNextRequestAndItsNeighboursRun,
	"effects carry their key":         TestEveryRequestOfACallCarriesItsIdempotencyKey,
	"large values":                    TestLargeParametersAndResultsStayOutOfHistory,
	"more Calls than run at once":     TestMoreCallsThanMayRunAtOnceAllRun,
	"three bad replies":               TestThreeBadRepliesInARowPauseTheProcessAndResumeLetsItGoOn,
	"a truncated reply":               TestATruncatedReplysCallsAreTheSolutionAndNobodySettlesByIt,
	"a later truncated reply":         TestALaterReplyThatIsTruncatedSettlesNobodyAndIsShownWhatItDidNotAnswer,
	"a wired output":                  TestAnOutputOfReferencesBesideCallsEndsTheProcessInOneRequest,
	"values that are fitted":          TestAStepThatGivesAnotherFormThanTheNextOneWantsGoesThrough,
	"latent results":                  TestLatentToolsAreWrittenByTheLLMAndAskedForByThemselves,
	"delegates":                       TestADelegateSeesItsParametersAndScopesAndNothingElse,
	"delegates hand values back":      TestADelegateHandsBackValuesForWhatItMayWrite,
	"answers are asked for twice":     TestAnswersAreAskedForTwice,
	"two answers before a person":     TestACallThatWasAnsweredDifferentlyIsPutBeforeAPerson,
	"hints run out":                   TestAnInstanceThatLacksWhatItsSchemaRequiresFailsAfterThreeHints,
	"the chain is whole":              TestAProcessLeavesAChainThatIsWhole,
	"what is shown is what runs":      TestWhatIsShownIsByteForByteWhatRuns,
	"decisions that do not fit":       TestADecisionThatDoesNotFitChangesNothingAndIsKeptWithItsReason,
	"decisions are told":              TestDecisionsAreToldAsFactsAndTheRejectedCallMeetsTheApprovalAgain,
	"nobody waits for a stranger":     TestARequestDoesNotWaitForAStrangersCallLongerThanTheGatheringTime,
	"a pause":                         TestAPauseLetsRunningCallsFinishAndStartsNothing,
	"a revision":                      TestARevisionMakesANewIdeaAndLeavesTheOldOneAsItIs,
	"a limit":                         TestReachingALimitPausesAndAHigherOneLetsItGoOn,
	"instances are added":             TestInstancesThatAreAddedAreInTheNextRequest,
	"a terminated process":            TestNothingRunsForAProcessThatWasTerminated,
	"a client that knows nothing":     TestAClientThatKnowsNothingOfThisProjectCanDecideAndSteer,
	"what an operator sees":           TestAnOperatorSeesWhatWaitsAndTheJSONToSend,
	"an output of what is known":      TestAnOutputOfWhatIsKnownBesideCallsEndsTheProcessInOneRequest,
	"a solution that is run again":    TestAnIdeaOfTheChainWithAnOutputOfWhatIsKnownIsRunAgainWithoutAnLLM,
	"nobody decides in time":          TestNobodyDecidesInTime,
	"a process that is split":         TestAProcessOfManyInstancesIsSplitAndGathersItsParts,
	"people and parts":                TestPeopleDecideOnSteerAndAddToPartsThroughTheWhole,
	"cancelled":                       TestACancelledProcessTakesItsInstancesAlong,
	"signals in the very same moment": TestAFloodOfSignalsFailsNoWorkflowTaskAndEveryValidOneHasItsEffectOnce,
}

// roundOf is after how many passes the workflows of a test continue as new: in a round of
// TestContinuingAsNewCannotBeSeen the number that is its name, elsewhere 0.
func roundOf(t *testing.T) int {
	_, round, _ := strings.Cut(t.Name(), "TestContinuingAsNewCannotBeSeen/")
	number, _, _ := strings.Cut(round, "/")
	every, _ := strconv.Atoi(number)
	return every
}

// Workflows that continue as new after every few steps come to the same as those that never do. Ordinarily a quarter of
// the scenarios is played, each in one round: in that of the shortest runs, or where it needs long in another. The long
// run plays all of them in all rounds.
func TestContinuingAsNewCannotBeSeen(t *testing.T) {
	t.Parallel()
	atLength(t)
	alone := map[string]int{"signals in the very same moment": 11, "effects carry their key": 3,
		"more Calls than run at once": 2, "a process that is split": 5, "an output of what is known": 1}
	for _, every := range []int{1, 2, 3, 5, 7, 11} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			t.Parallel()
			for name, shows := range longrun.SampleRows(t, 4, unseen) {
				only, isAlone := alone[name]
				if only == every || !isAlone && (every == 1 || longrun.Enabled()) {
					t.Run(name, shows)
				}
			}
		})
	}
}

func TestAWorkflowThatContinuesStaysTheSameToWhoeverLooksForIt(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"meta": {"path": "long", "version": "7"}, "schema": {"tools": {"shout": `+textTool+
		`}}, "context": [{"type": "text", "text": "Go."}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "a", "_outputPath": "a"}]}}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.a", "_outputPath": "b"}]}}`, nothingMore)
	s.every = 1
	run := s.start()
	if r := s.end(run); r.IdeaCount != 3 || asJSON(r.Instances[""].State) != `{"a":"A","b":"A"}` {
		t.Errorf("%+v", r)
	}
	for _, id := range []string{s.id, s.id + "/main"} {
		d, err := s.client.DescribeWorkflowExecution(t.Context(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		info := d.GetWorkflowExecutionInfo()
		if info.GetFirstRunId() == info.GetExecution().GetRunId() {
			t.Errorf("%s has not continued: the test tests nothing", id)
		}
		if err := replay(t, store, history(t, id)); err != nil {
			t.Errorf("replay %s: %v", id, err)
		}
		if memo := info.GetMemo().GetFields(); id == s.id && memo[protocol.MemoPath] == nil {
			t.Errorf("its memo is %v", memo)
		}
		if at := info.GetSearchAttributes().GetIndexedFields(); id == s.id &&
			string(at[protocol.AttributeStatus].GetData()) != `"completed"` {
			t.Errorf("its search attributes are %v", at)
		}
	}
	s.keep("continued", "/main")
}
