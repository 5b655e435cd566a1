// Package tpcc is the TPC-C workload as code: the nine tables, the population, the five transactions' inputs and
// outputs and the seeded streams they are drawn from. Clause numbers are those of the TPC-C Standard Specification,
// revision 5.11.
//
// It is the numeric profile: every column that is a number in the specification is here under its own name, text
// columns are not, and a customer's last name is its number 0..999 (clause 4.3.2.3 renders it as three syllables).
// Money is in cents, taxes and discounts are in basis points (1/10,000), dates are milliseconds since the Unix epoch.
//
// The package draws nothing from global randomness and reads no clock: a seed and a terminal's number decide every
// input, timestamps included, so that the same inputs in the same order must leave the same rows in every engine.
package tpcc
