package statelog

// What only the tests of this package see.

var Combine = combine
