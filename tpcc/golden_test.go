package tpcc

// Digests that must never change by accident.
const (
	goldenPopulationTest     = "a8d2dd5f6062ca533043fbc2336e4c3b5c96e5236a5d309b8b6ff0267ac7742b"
	goldenPopulationStandard = "b1c40cde71afc15c12d2eddfca31498987fbb14ceb5322fd0a398e84c215dc2e"
	goldenInputs1            = "65962dc2a8587fa42f5aa579054955a466f0bc465557b7d9f952b1206fbf5073"
	goldenInputs4            = "8d4ba817921eda89c6a124de588644e7bd6ee14802f47dc576b8a8282ba70e19"
)
