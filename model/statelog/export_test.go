package statelog

// What the tests of this package need of its inside.

var Combine = combineByMethod
