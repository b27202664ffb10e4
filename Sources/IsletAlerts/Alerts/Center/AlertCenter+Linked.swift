// What only linked pumps make the alert center hear.

public import IsletDevices
import IsletKernel

extension AlertCenter {
    public nonisolated func pumpDidLoseTrack(of amount: InsulinAmount) {
        here(amount) { $0.tell(.metric(.unknownInsulin, $1.units, sampledAt: $0.executor.now)) }
    }
}
