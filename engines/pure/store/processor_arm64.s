#include "textflag.h"

// func prefetch(n *node)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVD n+0(FP), R0
	PRFM (R0), PLDL1KEEP
	ADD $64, R0
	PRFM (R0), PLDL1KEEP
	ADD $64, R0
	PRFM (R0), PLDL1KEEP
	ADD $64, R0
	PRFM (R0), PLDL1KEEP
	RET

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	YIELD
	YIELD
	YIELD
	YIELD
	RET
