package archive

import (
	"context"
	"fmt"
	"strings"

	"processidea/client"
	"processidea/learn/ripen"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
)

// reportApprovals reports, for each Tool, what people did with the Calls that they were asked about.
func reportApprovals(ctx context.Context, a *app.App, processIDs []string) error {
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		findings, err := archive.AnalyzeApprovals(ctx, processIDs)
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, f := range findings {
			printApprovalFinding(&b, f)
		}
		if len(findings) == 0 {
			b.WriteString("Nobody was asked about a Call.\n")
		}
		return a.Show(jsonval.Object{"tools": findings}, b.String())
	})
}

func printApprovalFinding(b *strings.Builder, f ripen.Finding) {
	print.Fprintf(b, "%s: %d of %d approved unchanged", f.Tool, f.Counts.Approved, f.Counts.HumanDecisionCount())
	for _, one := range []struct {
		n    int
		what string
	}{{f.Counts.Amended, "amended"}, {f.Counts.Rejected, "rejected"}, {f.Counts.Replaced, "replaced"},
		{f.Counts.Answered, "answered"}} {
		if one.n > 0 {
			fmt.Fprintf(b, ", %d %s", one.n, one.what)
		}
	}
	if f.Counts.UnseenCount > 0 {
		fmt.Fprintf(b, "; at %d more nobody looked", f.Counts.UnseenCount)
	}
	b.WriteString("\n")
	for _, fact := range f.Facts {
		print.Fprintf(b, "  %s\n", fact)
	}
	if f.ProposedCondition == nil {
		print.Fprintf(b, "  no policy is proposed: %s\n", f.NoProposalReason)
		return
	}
	fmt.Fprintf(b, "  proposed: \"_approval\": {\"when\": %s}\n", jsonval.Encode(f.ProposedCondition))
	fmt.Fprintf(b, "  of these %d decisions it would have asked for %d, including all that people changed, and "+
		"not for %d\n",
		f.WouldAskCount+f.WouldNotAskCount, f.WouldAskCount, f.WouldNotAskCount)
	if len(f.NeedlesslyAskedCalls) > 0 {
		print.Fprintf(b, "  asked, and approved unchanged: %s\n", diag.SummarizeNames(f.NeedlesslyAskedCalls))
	}
}
