// People
