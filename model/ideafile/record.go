package ideafile

import "processidea/model/jsonval"

// isRecord says whether a message is a Plan with a record of what became of its Calls. One that runs by itself has a stage,
// and its record is read where it runs.
func (m Message) IsRecord() bool {
	return m.Type == TypePlan && m.Source["stage"] == nil && jsonval.TypeOf(m.Source["record"]) == "object"
}
