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

// actOptions holds the arguments and flags of a verb that acts.
type actOptions struct {
	verb          string
	args          []string
	flags         *pflag.FlagSet
	process, call string // the process or Call to act on

	by, reason, key, digest string // key names a file
	groups                  []string
	to, toGroup             string // whom a remark is for
	value, valueFlag        string // JSON or @file, and the name of the flag that sets it
	file                    string
	warnings                diag.Problems // about the file
	all                     bool
	reopen                  []string
	limits                  ideafile.Limits
	pauseReason             string // resume only processes that paused for this reason
	order                   client.StandingOrder
	when, from, until       string // of a standing order, or of a deputy
	many                    selectOptions
	undo, yes               bool // flags of cancel
}

func addAuthorFlags(f *pflag.FlagSet, g *actOptions) {
	f.StringVar(&g.by, "by", "", "the `name` of who does it (default: the user's)")
	f.StringVar(&g.reason, "reason", "", "why")
}

// addDeciderFlags adds the flags that identify the decider, by name or by a key.
func addDeciderFlags(f *pflag.FlagSet, g *actOptions) {
	addAuthorFlags(f, g)
	f.StringArrayVar(&g.groups, "group", nil,
		"a `group` of the person who decides, if the policy asks for one; may be repeated (default "+
			"$PROCESSIDEA_GROUPS, separated by commas)")
	f.StringVar(&g.key, "key", "", "sign with the private key in this `file` (default $PROCESSIDEA_KEY)")
}

// signer returns who acts and why.
func (g *actOptions) signer() client.By {
	return client.By{Name: cmp.Or(g.by, app.UserName()), Reason: g.reason}
}

// decision returns a decision with its decider. A key proves who decides; without one, the decider is the named person
// with the groups of the flags or the environment.
func (g *actOptions) decision() (d client.Decision, err error) {
	d = client.Decision{Call: g.call, Digest: g.digest, By: g.by, Groups: g.groups, Reason: g.reason,
		To: g.to, ToGroup: g.toGroup}
	if d.Key, err = app.SigningKey(g.key); err == nil && d.Key == nil {
		d.By, d.Groups = g.signer().Name, app.GroupsOr(g.groups)
	}
	return d, err
}

// jsonValue reads JSON from a flag's text, or from the file that @file names.
func jsonValue(text string) (any, error) {
	data := []byte(text)
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = ideafiles.ReadFile(path); err != nil {
			return nil, err
		}
	}
	return jsonval.Decode(data)
}
