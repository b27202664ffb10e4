// ClosedLoop
