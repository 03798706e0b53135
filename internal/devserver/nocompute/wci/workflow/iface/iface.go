// Package iface declares the server's types for compute configurations.
package iface

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
)

// ValidationResultFailed means that a compute configuration was checked and does not work.
const ValidationResultFailed ValidationResult = "failed"

type (
	// ComputeProviderType names where workers would be started.
	ComputeProviderType string
	// ScalingAlgorithmType names the rule for how many workers there would be.
	ScalingAlgorithmType string
	// ValidationResult is the outcome of a check.
	ValidationResult string

	// ComputeProviderSpec is a provider and its settings.
	ComputeProviderSpec struct {
		ProviderType  ComputeProviderType
		Config        *commonpb.Payload
		NexusEndpoint string
	}

	// ScalingAlgorithmSpec is a scaling rule and its settings.
	ScalingAlgorithmSpec struct {
		ScalingAlgorithm ScalingAlgorithmType
		Config           *commonpb.Payload
	}

	// ScalingGroupSpec says how workers for some types of tasks would be started. Scaling may be nil.
	ScalingGroupSpec struct {
		TaskTypes []enumspb.TaskQueueType
		Compute   ComputeProviderSpec
		Scaling   *ScalingAlgorithmSpec
	}

	// ScalingGroupSpecUpdate changes the fields of a group that UpdateMask names.
	ScalingGroupSpecUpdate struct {
		Spec       ScalingGroupSpec
		UpdateMask []string
	}

	// WorkerControllerInstanceSpec is a whole compute configuration: its groups by their names.
	WorkerControllerInstanceSpec struct {
		ScalingGroupSpecs map[string]ScalingGroupSpec
	}

	// ValidationStatus says when a compute configuration was last checked, and with which outcome.
	ValidationStatus struct {
		LastValidationTime time.Time
		Status             ValidationResult
		ErrMessage         string
	}

	// QueryDescribeWorkerControllerInstanceResponse is the compute configuration of a version, and its last check.
	QueryDescribeWorkerControllerInstanceResponse struct {
		Spec             *WorkerControllerInstanceSpec
		ValidationStatus *ValidationStatus
	}

	// UpdateWorkerControllerInstanceResponse is the compute configuration of a version after a change.
	UpdateWorkerControllerInstanceResponse struct {
		Spec *WorkerControllerInstanceSpec
	}
)
