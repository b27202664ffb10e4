// SimulatedDevices
