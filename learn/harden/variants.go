package harden

import (
	"strings"

	"processidea/learn/condition"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// maxVariants bounds the number of Calls into which a Call with differing parameters is divided.
const maxVariants = 4

// splitByParams divides a Call with unexplained differing parameters into one Call per value, since a condition may
// then separate the instances. It returns nil if there are too many values, or if a value is too rare.
func (h *hardener) splitByParams(c *mergedCall, paramNames []string) []*mergedCall {
	variantByParams, instances := map[string]*mergedCall{}, h.instancesThatRanOrPlanned(c)
	for _, r := range instances {
		paramValues := jsonval.Object{}
		for _, name := range paramNames {
			if v, isGiven := c.pastCallByInstance[r].parsedCall.Params[name]; isGiven {
				paramValues[name] = v
			}
		}
		paramsKey := jsonval.EncodeToString(paramValues)
		if variantByParams[paramsKey] == nil {
			variantByParams[paramsKey] = &mergedCall{key: c.key, variantParamsJSON: paramsKey,
				pastCallByInstance: map[*instanceRun]*recordedCall{}}
		}
		variantByParams[paramsKey].pastCallByInstance[r] = c.pastCallByInstance[r]
	}
	if len(variantByParams) < 2 || len(variantByParams) > maxVariants {
		return nil
	}
	var variants []*mergedCall
	for _, v := range jsonval.Sorted(variantByParams) {
		if len(v.pastCallByInstance) < condition.MinSamplesPerSide && !v.ranInDirectPlansOnly() ||
			len(h.generalizeCall(v)) > 0 {
			return nil
		}
		variants = append(variants, v)
	}
	return variants
}

// ranInDirectPlansOnly reports whether the Call always ran in a Plan that ran directly, and no Request planned it.
func (c *mergedCall) ranInDirectPlansOnly() bool {
	_, lastRequest := c.requestRange()
	return lastRequest == 0
}

// instancesThatRanOrPlanned lists the instances in which a Call ran. If it ran in none, it lists those that planned it.
func (h *hardener) instancesThatRanOrPlanned(c *mergedCall) []*instanceRun {
	instances := h.instancesWithCall(c)
	executedInstances := jsonval.Filter(instances, func(r *instanceRun) bool {
		status := c.pastCallByInstance[r].Status
		return status == ideafile.CallDone || status == ideafile.CallFailed
	})
	if len(executedInstances) == 0 {
		return instances
	}
	return executedInstances
}

// variantSuffix distinguishes a Call from others that differ only in their parameters.
func (c *mergedCall) variantSuffix() string {
	if c.variantParamsJSON == "" {
		return ""
	}
	return " with " + jsonval.Clip(strings.Trim(c.variantParamsJSON, "{}"), 60)
}
