package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/store/chain"
	"processidea/store/encryption"
	"processidea/store/proofs"
	"processidea/store/signing"
)

// Verify checks every digest of a chain.
func Verify(a *app.App) *cobra.Command {
	comparesWithTemporal, checksAllChains, decidersFile := false, false, ""
	c := app.NewCommand("verify [ID|FILE]", "Check every digest of a process's chain, or of an exported one",
		`Check a process's chain: its Ideas are numbered without a gap, each names the one before,
and every manifest, part, value and log matches its digest. So do the chains of its parts
and delegates. A file of that name is checked as what export wrote, one chain, with nothing
but the file. No server is needed: it reads only the store that --store or
PROCESSIDEA_STORE names, such as a backup. Exit code 1: something is broken; 2: it is not
checked, because a key is missing; 4: because it cannot be read.

A decision's proof, if it has one, must name this process, Call, digest and decision. With
--deciders, or PROCESSIDEA_DECIDERS, its signature is checked too. A key that was withdrawn
later still proves what was decided before.

Whoever can write to the store can forge a whole chain with digests that fit. --temporal
therefore compares every Idea with the digest in Temporal's history of the process, as long
as that is kept.

--all checks every chain of the store, but not its settings, nor values that belong to no
chain (gc removes those).`,
		`  starter verify refund-17
  starter verify refund-17 --store /backup/store
  starter verify refund-17 --temporal
  starter verify refund-17.jsonl --deciders deciders.json --json
  starter verify --all --store /backup/store`,
		func(ctx context.Context, args []string) error {
			deciderKeys, err := loadDeciderKeys(ctx, decidersFile)
			switch {
			case err != nil:
				return err
			case checksAllChains && (comparesWithTemporal || len(args) > 0):
				return exit.Usagef("verify: --all checks every chain of the store: leave out ID, file and --temporal")
			case checksAllChains:
				return verifyAll(ctx, a, deciderKeys)
			case len(args) == 0:
				return exit.Usagef("verify: name a process or a file, or use --all")
			case comparesWithTemporal:
				return verifyWithTemporal(ctx, a, args[0], deciderKeys)
			}
			return runVerify(ctx, a, args[0], deciderKeys)
		})
	f := c.Flags()
	f.BoolVar(&comparesWithTemporal, "temporal", false, "compare it with the digests in Temporal's history too")
	f.BoolVar(&checksAllChains, "all", false, "check every chain of the store")
	f.StringVar(&decidersFile, "deciders", "",
		"check signatures of decisions with the keys in this JWKS `file` (default $PROCESSIDEA_DECIDERS)")
	return c
}

// loadDeciderKeys reads the keys that check decisions. It returns nil if neither the flag nor the environment names
// any.
func loadDeciderKeys(ctx context.Context, keysLocation string) (*signing.Keys, error) {
	keysLocation = cmp.Or(keysLocation, os.Getenv(signing.DecidersVariable))
	if keysLocation == "" {
		return nil, nil
	}
	source, err := signing.Open(ctx, keysLocation)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	return source.Keys(ctx)
}

func verifyWithTemporal(ctx context.Context, a *app.App, id string, deciderKeys *signing.Keys) error {
	return a.WithSession(ctx, func(s *server.Session) error {
		r, err := s.VerifyWithTemporal(ctx, id, deciderKeys)
		if err = addUncheckedRest(r, err); err != nil {
			return uncheckedError(id, err)
		}
		if !a.WritesJSON {
			a.Note("%s of %s compared with Temporal's history", print.Plural(r.WitnessedIdeaCount, "Idea"),
				print.Plural(r.IdeaCount, "Idea"))
		}
		return printVerifyReport(a, id, r)
	})
}

func runVerify(ctx context.Context, a *app.App, fileOrProcessID string, deciderKeys *signing.Keys) error {
	info, err := os.Stat(fileOrProcessID)
	if err == nil && info.Mode().IsRegular() {
		r, err := verifyFile(fileOrProcessID, deciderKeys)
		if err != nil {
			return err
		}
		return printVerifyReport(a, fileOrProcessID, r)
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		r, err := archive.WithDeciderKeys(deciderKeys).Chain(fileOrProcessID).Verify(ctx)
		if err = addUncheckedRest(r, err); err != nil {
			return uncheckedError(fileOrProcessID, err)
		}
		if a.StorePlace != "" {
			fileOrProcessID += " in " + a.StorePlace
		}
		return printVerifyReport(a, fileOrProcessID, r)
	})
}

// whyUnchecked says why a chain could not be checked, with the exit code for that; 0 for an error that means something
// else. Only the code of what is broken would be wrong: nobody knows whether the chain is.
func whyUnchecked(err error) (reason string, exitCode int) {
	if exit.CodeOf(err) != exit.Failed {
		return "", 0
	}
	if missingKey, isMissingKey := errors.AsType[*encryption.MissingKeyError](err); isMissingKey {
		return "a key is missing: it is " + missingKey.Error(), exit.Usage
	}
	return "it cannot be read: " + err.Error(), exit.Unreachable
}

// addUncheckedRest adds to a report that has found something broken why its check did not go on: it is broken all the
// same. Otherwise it returns the error.
func addUncheckedRest(r *chain.Report, err error) error {
	reason, exitCode := whyUnchecked(err)
	if exitCode == 0 || r == nil || len(r.Broken) == 0 {
		return err
	}
	r.Broken = append(r.Broken, chain.BrokenItem{Item: "the rest", Problem: "not checked, because " + reason})
	return nil
}

func uncheckedError(processID string, err error) error {
	if reason, exitCode := whyUnchecked(err); exitCode != 0 {
		return &exit.Error{Code: exitCode, Cause: fmt.Errorf("verify %s: not checked, because %s", processID, reason)}
	}
	return err
}

// processVerifyReport is the check of one chain among several.
type processVerifyReport struct {
	ProcessID string `json:"process"`
	*chain.Report
	UncheckedReason string `json:"unchecked,omitempty"` // why the chain could not be checked; empty: it was
}

// uncheckedText is what no check of chains looks at.
const uncheckedText = "values that belong to no chain, and the store's own settings"

func verifyAll(ctx context.Context, a *app.App, deciderKeys *signing.Keys) error {
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		archive = archive.WithDeciderKeys(deciderKeys)
		processIDs, err := archive.ProcessIDs(ctx)
		if err != nil {
			return err
		}
		reports, exitCode := []processVerifyReport{}, exit.Done
		for _, id := range processIDs {
			r, uncheckedCode, err := verifyOneOfAll(ctx, archive, id)
			switch {
			case err != nil:
				return err
			case len(r.Broken) > 0:
				exitCode = exit.Failed
			default:
				exitCode = cmp.Or(exitCode, uncheckedCode)
			}
			reports = append(reports, r)
		}
		if a.WritesJSON {
			a.Note("not checked: %s", uncheckedText)
		}
		err = a.Show(reports, allVerifyReportsText(reports))
		if err == nil && exitCode != exit.Done {
			err = exit.WithCode(exitCode)
		}
		return err
	})
}

// verifyOneOfAll checks a chain. exitCode is not 0 if it could not be checked, which keeps no other from being checked.
func verifyOneOfAll(ctx context.Context, archive *client.Archive, processID string) (r processVerifyReport,
	exitCode int, err error) {
	r = processVerifyReport{ProcessID: processID, Report: &chain.Report{Process: processID,
		Broken: []chain.BrokenItem{}, UnreadableIdeaNumbers: []int{}}}
	report, err := archive.Chain(processID).VerifyOwnChain(ctx, func(int, int) {})
	err = addUncheckedRest(report, err)
	if r.UncheckedReason, exitCode = whyUnchecked(err); exitCode != 0 {
		return r, exitCode, nil
	}
	if errors.Is(err, client.ErrNotFound) {
		r.Broken = append(r.Broken, chain.BrokenItem{Item: "the chain", Problem: err.Error()})
		return r, 0, nil
	}
	if err == nil {
		r.Report = report
	}
	return r, 0, err
}

func allVerifyReportsText(reports []processVerifyReport) string {
	var b strings.Builder
	brokenCount, uncheckedCount, uncheckedChainsText := 0, 0, ""
	for _, r := range reports {
		switch {
		case r.UncheckedReason != "":
			uncheckedCount++
			uncheckedChainsText = print.Plural(uncheckedCount, "chain") + ", "
			print.Fprintf(&b, "%s: not checked, because %s\n", r.ProcessID, r.UncheckedReason)
			continue
		case !r.IsIntact:
			brokenCount++
		}
		b.WriteString(verifyReportText(r.ProcessID, r.Report))
	}
	fmt.Fprintf(&b, "%s checked, %d broken; not checked: %s%s\n", print.Plural(len(reports)-uncheckedCount, "chain"),
		brokenCount, uncheckedChainsText, uncheckedText)
	return b.String()
}

func verifyFile(file string, deciderKeys *signing.Keys) (*chain.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, exit.Usagef("verify %s: %w", file, ideafiles.WithoutPath(err))
	}
	defer f.Close()
	var proofVerifier proofs.ProofVerifier
	if deciderKeys != nil {
		proofVerifier = deciderKeys
	}
	r, err := chain.VerifyExport(f, proofVerifier)
	if errors.Is(err, chain.ErrNoExport) {
		return nil, exit.Usagef("verify %s: %w", file, chain.ErrNoExport)
	}
	return r, err
}

// printVerifyReport prints what a check found, and returns the error for its exit code.
func printVerifyReport(a *app.App, label string, r *chain.Report) error {
	err := a.Show(r, verifyReportText(label, r))
	if err == nil && !r.IsIntact {
		err = exit.WithCode(exit.Failed)
	}
	return err
}

// decisionProofsText says how people's decisions are proven, or "" if there are none.
func decisionProofsText(c proofs.Counts) string {
	if c.Declared+c.Signed+c.Inherited == 0 {
		return ""
	}
	text := fmt.Sprintf("%s: %d declared, %d signed", print.Plural(c.Declared+c.Signed, "decision"),
		c.Declared, c.Signed)
	if c.Inherited > 0 {
		text += fmt.Sprintf(", and %s from earlier processes", print.Plural(c.Inherited, "proof"))
	}
	switch {
	case c.Signed+c.Inherited == 0:
	case c.Proven < c.Signed:
		text += "; signatures not checked: no keys are named (--deciders FILE)"
	default:
		text += "; every signature is right"
	}
	return text + "\n"
}

// forgottenIdeasText says that a chain's contents were removed, or "" if they were not.
func forgottenIdeasText(f *chain.ForgetRecord) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s; the digests still lead from one Idea to the next, and the last one records this\n",
		print.Printable(f.String()))
}

// forgottenInstancesText says which instances were taken out of a chain.
func forgottenInstancesText(list []chain.ForgottenInstance) string {
	var b strings.Builder
	for _, f := range list {
		print.Fprintf(&b, "%s was %s; the Ideas have the digests that they had, and the last one says so\n",
			f.Instance, f.String())
	}
	return b.String()
}

func verifyReportText(label string, r *chain.Report) string {
	var b strings.Builder
	if r.IsIntact {
		print.Fprintf(&b, "%s: whole, %s, the latest has the digest %s and was %s\n",
			label, print.Plural(r.IdeaCount, "Idea"), r.Digest, sealedText(r.Created))
		if r.ChildChainCount > 0 {
			fmt.Fprintf(&b, "%s of its parts and delegates: whole\n", print.Plural(r.ChildChainCount, "chain"))
		}
		b.WriteString(forgottenIdeasText(r.Forgotten) + forgottenInstancesText(r.ForgottenInstances))
		b.WriteString(decisionProofsText(r.Decisions) + undoesText(r.Undoes) + originText(r.ForkOrigin) +
			simulationText(r.Simulated))
		return b.String()
	}
	print.Fprintf(&b, "%s: broken, %s\n", label, print.Plural(r.IdeaCount, "Idea"))
	for _, p := range r.Broken {
		print.Fprintf(&b, "  Idea %d: %s: %s\n", p.FirstIdea, p.Item, p.Problem)
		b.WriteString(dependentIdeasText(p))
	}
	if len(r.UnreadableIdeaNumbers) > 0 {
		fmt.Fprintf(&b, "  %s cannot be loaded: %s\n", print.Plural(len(r.UnreadableIdeaNumbers), "Idea"),
			print.RangesText(r.UnreadableIdeaNumbers))
	}
	return b.String()
}

// dependentIdeasText lists the later Ideas that depend on a broken part.
func dependentIdeasText(broken chain.BrokenItem) string {
	dependents := slices.DeleteFunc(slices.Clone(broken.UnloadableIdeaNumbers),
		func(ideaNumber int) bool { return ideaNumber == broken.FirstIdea })
	if len(dependents) == 0 {
		return ""
	}
	return fmt.Sprintf("    later Ideas that depend on it, and cannot be loaded either: %s\n",
		print.RangesText(dependents))
}
