package people

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
)

// actionOptions holds the arguments and flags of a verb that acts.
type actionOptions struct {
	verb              string
	args              []string
	flags             *pflag.FlagSet
	processID, callID string // the process or Call to act on

	actorName, reason, keyFile, shownDigest string // key names a file
	groups                                  []string
	recipient, recipientGroup               string // whom a remark is for
	isForRequest                            bool   // the LLM is told of a question
	valueText, valueFlagName                string // JSON or @file, and the name of the flag that sets it
	inputFile                               string
	fileWarnings                            diag.Problems // about the file
	isAllFlagSet                            bool
	reopenTokens                            []string
	newLimits                               ideafile.Limits
	pauseCodeFilter                         string // resume only processes that paused for this reason
	standingOrder                           client.StandingOrder
	whenText, fromText, untilText           string // of a standing order, or of a deputy
	selection                               decideManyOptions
	shouldUndo, isConfirmed                 bool // flags of cancel
}

func addAuthorFlags(f *pflag.FlagSet, opts *actionOptions) {
	f.StringVar(&opts.actorName, "by", "", "the `name` of who does it (default: the user's)")
	f.StringVar(&opts.reason, "reason", "", "why")
}

// addDeciderFlags adds the flags that identify the decider, by name or by a key.
func addDeciderFlags(f *pflag.FlagSet, opts *actionOptions) {
	addAuthorFlags(f, opts)
	f.StringArrayVar(&opts.groups, "group", nil,
		"a `group` of the person who decides, if the policy asks for one; may be repeated (default "+
			"$PROCESSIDEA_GROUPS, separated by commas)")
	f.StringVar(&opts.keyFile, "key", "", "sign with the private key in this `file` (default $PROCESSIDEA_KEY)")
}

// actor returns who acts and why.
func (g *actionOptions) actor() client.Actor {
	return client.Actor{Name: cmp.Or(g.actorName, app.UserName()), Reason: g.reason}
}

// newDecision returns a decision with its decider. A key proves who decides; without one, the decider is the named
// person with the groups of the flags or the environment.
func (g *actionOptions) newDecision() (d client.Decision, err error) {
	d = client.Decision{CallID: g.callID, ApprovalDigest: g.shownDigest, By: g.actorName, Groups: g.groups,
		Reason:   g.reason,
		ToPerson: g.recipient, ToGroup: g.recipientGroup, IsForRequest: g.isForRequest}
	if d.Key, err = app.SigningKey(g.keyFile); err == nil && d.Key == nil {
		d.By, d.Groups = g.actor().Name, app.GroupsOrDefault(g.groups)
	}
	return d, err
}

// parseJSONFlag reads JSON from a flag's text, or from the file that @file names.
func parseJSONFlag(text string) (any, error) {
	data := []byte(text)
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = ideafiles.ReadFileAsUTF8(path); err != nil {
			return nil, err
		}
	}
	return jsonval.Decode(data)
}
