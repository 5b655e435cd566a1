// Package wire puts any engine behind HTTP/1.1 and JSON: a Server that answers for an engines.Engine, and a Client that is
// one, so that what drives an engine drives a served one as well.
//
// # Requests
//
// Each terminal has one connection, which is kept alive, and on it one request at a time. A connection is a session: the
// server opens the engine's session at the first request that needs one and closes it with the connection.
//
//	POST /v1/new_order      a transaction; its body is the input, the answer's body the output
//	POST /v1/payment
//	POST /v1/order_status
//	POST /v1/delivery
//	POST /v1/stock_level
//	POST /v1/session        opens the connection's session now, so that the first transaction need not; body and answer are {}
//	GET  /v1/status         what the engine says of itself (engines.Facts), and what the server's process is: see Status
//
// A POST says Content-Type: application/json, and has a body of at most MaxBody bytes.
//
// # Answers
//
//	200   the outcome is final and durable: a commit, or the rollback that the specification wants ("rolled_back": true)
//	400   the body is no such input; nothing was done
//	404   there is no such path
//	405   the path has another method, which the header Allow names
//	408   the request did not come within the time for one
//	413   the body is too long
//	415   the body is not said to be JSON
//	500   the transaction failed
//	503   the engine has failed and accepts no more writes, or gives no session
//	507   the transaction failed since the device is full
//
// The body of an answer that is not 200 is {"error": "what is wrong", "kinds": [...]}. The kinds, if there are any, are the
// errors that the engine's error wraps: failed, indeterminate, corrupt (engines.ErrFailed and so on), no_space, quota,
// file_too_large (ENOSPC, EDQUOT, EFBIG). Without the kind indeterminate, what failed left nothing behind. Answers to bytes
// that are no HTTP at all (400, 431, 505) are net/http's own and plain text.
//
// A connection that ends before the answer is there leaves the outcome open: the Client's error wraps
// engines.ErrIndeterminate.
//
// # Bodies
//
// A body is one JSON object. Its members may come in any order; each is there once, none is unknown, and names are as
// written. Numbers are whole numbers without fraction or exponent, money in cents, rates in basis points, dates in ms
// since the Unix epoch. What the specification calls null is null. members.go has each body's members and their ranges:
// one table for reading and writing. For example
//
//	POST /v1/payment HTTP/1.1
//	Host: 127.0.0.1:8080
//	Content-Type: application/json
//	Content-Length: 115
//
//	{"w_id":1,"d_id":2,"c_w_id":1,"c_d_id":2,"by_name":false,"c_last":0,"c_id":7,"amount":1234,"date":1767225600000}
//
//	HTTP/1.1 200 OK
//	Content-Type: application/json
//
//	{"c_id":7,"c_last":6,"c_credit":0,"c_since":1767139200000,"c_credit_lim":5000000,"c_discount":1234,"c_balance":-2234}
//
// # Cost
//
// Server and Client allocate nothing of their own per transaction once a connection has made one of each type; the Server
// is net/http's, which does (BenchmarkRoundTrip counts it). The Client speaks HTTP itself over its connection, so that
// the process with the terminals takes as little as it can from the machine that the server runs on.
package wire
