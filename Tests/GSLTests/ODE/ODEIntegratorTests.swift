// The integrator's promises: accuracy, edges, counts and errors, on systems with known answers.

import Foundation
import IsletNumerics
import Testing

/// y0' = -k·y0 + u ; y1' = k·y0. `calls` counts the evaluations.
private struct Decay {
    var k = 0.3
    var u = 0.0
    var calls = 0
}

private let decay: ODEIntegrator.RightHandSide = { _, y, f, raw in
    guard let y, let f, let raw else { return 9 }
    let p = raw.assumingMemoryBound(to: Decay.self)
    p.pointee.calls += 1
    f[0] = -p.pointee.k * y[0] + p.pointee.u
    f[1] = p.pointee.k * y[0]
    return 0
}

private struct Fixture: ~Copyable {
    let y = UnsafeMutablePointer<Double>.allocate(capacity: 2)
    let p = UnsafeMutablePointer<Decay>.allocate(capacity: 1)

    init() {
        y[0] = 1
        y[1] = 0
        p.initialize(to: Decay())
    }

    deinit {
        y.deallocate()
        p.deallocate()
    }

    func integrator(
        _ stepper: ODEIntegrator.Stepper, _ tolerance: Double, limit: Int = 100_000
    ) -> ODEIntegrator {
        ODEIntegrator(
            stepper: stepper, rightHandSide: decay, parameters: p, scales: [1, 1],
            tolerance: .init(absolute: tolerance), stepLimit: limit)
    }
}

@Suite struct ODEIntegratorTests {
    @Test(arguments: ODEIntegrator.Stepper.allCases)
    func everyStepperMeetsTheClosedForm(stepper: ODEIntegrator.Stepper) throws {
        let fixture = Fixture()
        let integrator = fixture.integrator(stepper, 1e-10)
        for _ in 0..<10 { try integrator.advance(state: fixture.y, by: 1.7) }
        #expect(abs(fixture.y[0] - exp(-0.3 * 17)) < 1e-8)
        #expect(abs(fixture.y[1] - (1 - exp(-0.3 * 17))) < 1e-8)
    }

    @Test(arguments: ODEIntegrator.Stepper.allCases)
    func evaluationsAreCountedExactly(stepper: ODEIntegrator.Stepper) throws {
        let fixture = Fixture()
        let integrator = fixture.integrator(stepper, 1e-9)
        for i in 0..<40 {
            fixture.p.pointee.u = Double(i % 3)
            integrator.resetAtEdge()
            try integrator.advance(state: fixture.y, by: 5)
        }
        #expect(integrator.evaluations == fixture.p.pointee.calls)
        #expect(integrator.acceptedSteps >= 40)
    }

    @Test func anEdgeIsForgottenAfterReset() throws {
        let fixture = Fixture()
        let integrator = fixture.integrator(.rkck, 1e-10)
        try integrator.advance(state: fixture.y, by: 10)
        let before = fixture.y[0]
        fixture.p.pointee.u = 30
        integrator.resetAtEdge()
        try integrator.advance(state: fixture.y, by: 10)
        let closed = 100 + (before - 100) * exp(-3)
        #expect(abs(fixture.y[0] - closed) < 1e-7)
    }

    @Test func aNewIntegratorAndARestartedOneAgreeBitForBit() throws {
        let used = Fixture()
        let integrator = used.integrator(.rkck, 1e-6)
        try integrator.advance(state: used.y, by: 100)
        used.y[0] = 1
        used.y[1] = 0
        integrator.restart()
        try integrator.advance(state: used.y, by: 7)
        let fresh = Fixture()
        try fresh.integrator(.rkck, 1e-6).advance(state: fresh.y, by: 7)
        #expect(used.y[0].bitPattern == fresh.y[0].bitPattern)
    }

    @Test func theStepSizeOutlivesASegment() throws {
        let fixture = Fixture()
        let integrator = fixture.integrator(.rkck, 1e-3)
        for _ in 0..<20 { try integrator.advance(state: fixture.y, by: 5) }
        let before = integrator.acceptedSteps
        try integrator.advance(state: fixture.y, by: 5)
        #expect(integrator.acceptedSteps - before == 1)
    }

    @Test func aNonFiniteStateIsNamed() {
        let fixture = Fixture()
        let integrator = fixture.integrator(.rkck, 1e-6)
        fixture.p.pointee.u = .nan
        let error = #expect(throws: ODEError.self) { try integrator.advance(state: fixture.y, by: 5) }
        #expect(error?.cause == .nonFinite(state: 0))
    }

    @Test func theStepLimitThrows() {
        let fixture = Fixture()
        let integrator = fixture.integrator(.rkf45, 1e-12, limit: 5)
        let error = #expect(throws: ODEError.self) { try integrator.advance(state: fixture.y, by: 500) }
        #expect(error?.cause == .stepLimit(5))
        #expect(error?.code == 11)
    }

    @Test func aCodeFromTheRightHandSideIsThrown() {
        let y = UnsafeMutablePointer<Double>.allocate(capacity: 1)
        defer { y.deallocate() }
        y[0] = 1
        let integrator = ODEIntegrator(
            rightHandSide: { _, _, _, _ in 9 }, parameters: nil, scales: [1],
            tolerance: .init(absolute: 1e-6))
        let error = #expect(throws: ODEError.self) { try integrator.advance(state: y, by: 1) }
        #expect(error?.cause == .code(9))
    }

    @Test func badSegmentsThrowAndEmptyOnesDoNothing() throws {
        let fixture = Fixture()
        let integrator = fixture.integrator(.rkck, 1e-6)
        try integrator.advance(state: fixture.y, by: 0)
        #expect(fixture.p.pointee.calls == 0)
        for length in [-1.0, .nan, .infinity] {
            #expect(throws: ODEError.self) { try integrator.advance(state: fixture.y, by: length) }
        }
    }
}
