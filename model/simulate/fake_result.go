package simulate

import (
	"processidea/model/jsonschema"
	"processidea/model/jsonschema/sample"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// FakeResult makes up what a Tool might return: a value that fits its `_output` schema and, if possible, the State
// schema at its output path. It returns an error if there is no such value.
func FakeResult(toolName string, outputSchema any, contract *statelog.ResultContract) (any, error) {
	if outputSchema == nil {
		outputSchema = jsonval.Object{"const": sample.SimulatedText + ": " + toolName}
		if stateSchema := contract.SchemaAtFirstPath(); stateSchema != nil {
			if v, err := sample.MakeSample(outputSchema); err == nil && contract.Check(0, v) == nil {
				return v, nil
			}
			return sample.MakeSample(stateSchema)
		}
	}
	v, err := sample.MakeSample(outputSchema)
	if err != nil || contract.Check(0, v) == nil {
		return v, err
	}
	if stateSchema := contract.SchemaAtFirstPath(); stateSchema != nil {
		combinedSample, err := sample.MakeSample(jsonval.Object{
			"allOf": []any{jsonschema.InlineRefs(outputSchema, outputSchema), stateSchema}})
		if err == nil && contract.Check(0, combinedSample) == nil {
			return combinedSample, nil
		}
	}
	return v, nil // the instance reports how it does not fit
}
