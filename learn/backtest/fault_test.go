package backtest_test

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
)

type diagFault = diag.Fault

func fault(text string) *diagFault { return diag.Faultf(ideafile.CodeToolFailed, "%s", text) }
