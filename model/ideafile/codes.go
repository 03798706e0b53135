package ideafile

import "processidea/model/diag"

// Error codes of a Call. Structural errors are found before the Call runs, the others come from running it.
const (
	CodeBadForm             = "bad_form"
	CodeUnknownTool         = "unknown_tool"
	CodeUnknownKey          = "unknown_key"
	CodeBadInstance         = "bad_instance"
	CodeBadParams           = "bad_parameters"
	CodeBadReference        = "bad_reference"
	CodeBadPath             = "bad_path"
	CodeBadOutput           = "bad_output"
	CodeBlocked             = "blocked"   // it can never become ready
	CodeUndecided           = "undecided" // its condition does not decide whether it runs
	CodeToolFailed          = "tool_failed"
	CodeOutcomeUnknown      = "outcome_unknown" // it may have run or not: its worker or its connection was lost
	CodeStoreUnavailable    = "store_away"      // the store cannot be written, and the Tool has had no effect
	CodeDelegateFailed      = "delegate_failed" // its delegate did not complete
	CodeNotSimulated        = "not_simulated"   // in a simulation, no result could be made up for it
	CodeMCPUnreachable      = "mcp_unreachable" // the MCP server cannot be reached
	CodeMCPServerNotAllowed = "mcp_refused"     // the MCP server may not be used
	CodeToolChanged         = "tool_changed"    // the MCP server's tool is not the one that was pinned
	CodeMCPInputRequired    = "input_wanted"    // the MCP server's tool asks a person for input
	CodeToolAccessDenied    = "not_allowed"     // the worker may not reach the Tool's host, or lacks one of its secrets
)

// MayHaveTakenEffect reports whether the Tool of a failed Call may have run to its end: its outcome is unknown, or it
// returned an invalid result.
func MayHaveTakenEffect(f *diag.Fault) bool {
	return f != nil && (f.Code == CodeOutcomeUnknown || f.Code == CodeBadOutput)
}

// FaultCodeNeedsOperator reports whether only the worker's operator can remove the cause of a fault; another Call would
// fail too.
func FaultCodeNeedsOperator(code string) bool {
	return code == CodeToolAccessDenied || code == CodeMCPServerNotAllowed
}
