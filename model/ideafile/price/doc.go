// Package price says what tokens cost. Money is exact: billionths of a US dollar, added as whole numbers, so that a sum
// does not depend on the order in which its parts came.
package price
