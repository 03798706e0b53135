package simulate

import (
	"processidea/model/ideafile"
	"processidea/model/sample"
	"processidea/model/statelog"
)

// MakeUp gives what a Tool might return: a value that fits its `_output`, and, where one can be found, the State schema at
// the path where it lands. The error says that there is none.
func FakeResult(tool string, output any, landing *statelog.ResultContract) (any, error) {
	if output == nil {
		output = map[string]any{"const": sample.SimulatedText + ": " + tool}
		if wanted := landing.Schemas(); wanted != nil {
			if v, err := sample.Sample(output); err == nil && landing.Check(0, v) == nil {
				return v, nil
			}
			return sample.Sample(wanted)
		}
	}
	v, err := sample.Sample(output)
	if err != nil || landing.Check(0, v) == nil {
		return v, err
	}
	if wanted := landing.Schemas(); wanted != nil {
		both, err := sample.Sample(ideafile.AllOf(output, wanted))
		if err == nil && landing.Check(0, both) == nil {
			return both, nil
		}
	}
	return v, nil // the instance says how it does not fit
}
