// Package price computes what tokens cost. Money is exact: billionths of a US dollar, added as whole numbers, so that a
// sum does not depend on the order of its parts.
package price
