// Log-normal distributions of the S2008 parameters by age group.
//
// Source: (μ, σ) of ln(value), computed from the ten subjects a group of the field's S2008 table; no
// row of that table is here. Independent between parameters, but for the few pairs in `links`.

import IsletKernel

/// What the generator draws for one age group.
struct CohortDistribution {
    typealias Draw = (
        path: WritableKeyPath<UVAPadova2008.Parameters, Double>, mu: Double, sigma: Double
    )

    let draws: [Draw]

    /// A parameter whose normal variate is `weight` times that of another, plus what is left of its own.
    struct Link {
        let from: WritableKeyPath<UVAPadova2008.Parameters, Double>
        let weight: Double
    }

    /// Pairs that are correlated in the pooled rows of the table, at half their strength (ten subjects a group can't tell more), by the
    /// dependent one. Each depends on one that is drawn before it.
    static func link(
        of path: WritableKeyPath<UVAPadova2008.Parameters, Double>
    ) -> Link? {
        switch path {
        case \.kmax: Link(from: \.kabs, weight: -0.35)
        case \.kmin: Link(from: \.kabs, weight: 0.35)
        case \.b: Link(from: \.kabs, weight: 0.4)
        case \.kp3: Link(from: \.kp2, weight: 0.35)
        case \.ka2: Link(from: \.ka1, weight: 0.5)
        default: nil
        }
    }

    /// Clearance grows with the square root of body weight; what weight doesn't explain of its spread stays its own, half of it at least.
    func linkClearance(_ p: inout UVAPadova2008.Parameters, z: Double) {
        guard let weight = draws.first(where: { $0.path == \.BW }),
            let clearance = draws.first(where: { $0.path == \.CL })
        else { return }
        let explained = 0.5 * weight.sigma
        let left = max(
            clearance.sigma * clearance.sigma - explained * explained,
            0.25 * clearance.sigma * clearance.sigma)
        let shift = 0.5 * (naturalLogarithm(p.BW) - weight.mu)
        p.CL = exponential(clearance.mu + shift + left.squareRoot() * z)
    }

    private init(_ rows: [Draw]) { draws = rows }

    static func of(_ group: AgeGroup) -> Self {
        switch group {
        case .adolescent: adolescent
        case .adult: adult
        case .child: child
        }
    }

    private static var adolescent: Self {
        .init([
            (\.BW, 3.8529, 0.158),
            (\.Gb, 4.9678, 0.037),
            (\.Ib, 4.6387, 0.124),
            (\.EGPb, 1.1380, 0.157),
            (\.Vg, 0.6092, 0.092),
            (\.Vi, -2.9991, 0.209),
            (\.k1, -2.7499, 0.355),
            (\.k2, -2.1534, 0.488),
            (\.kabs, -2.0559, 1.237),
            (\.kmax, -3.4195, 0.445),
            (\.kmin, -4.6471, 0.389),
            (\.b, -0.2815, 0.182),
            (\.d, -1.7350, 0.293),
            (\.Vmx, -2.9202, 0.252),
            (\.Km0, 5.4420, 0.098),
            (\.p2u, -3.4241, 0.383),
            (\.m1, -1.7695, 0.397),
            (\.CL, -0.3204, 0.098),
            (\.ki, -4.5720, 0.586),
            (\.kp2, -5.0357, 0.742),
            (\.kp3, -4.4936, 0.598),
            (\.kd, -4.1114, 0.087),
            (\.ka1, -5.6338, 0.345),
            (\.ka2, -4.1064, 0.318),
            (\.ksc, -2.4964, 0.291),
        ])
    }

    private static var adult: Self {
        .init([
            (\.BW, 4.4379, 0.197),
            (\.Gb, 4.9602, 0.044),
            (\.Ib, 4.6747, 0.161),
            (\.EGPb, 0.9116, 0.130),
            (\.Vg, 0.6114, 0.077),
            (\.Vi, -2.9782, 0.264),
            (\.k1, -2.8124, 0.299),
            (\.k2, -2.1223, 0.413),
            (\.kabs, -2.0099, 1.053),
            (\.kmax, -3.2946, 0.317),
            (\.kmin, -5.0374, 0.538),
            (\.b, -0.2519, 0.149),
            (\.d, -1.7853, 0.381),
            (\.Vmx, -3.0830, 0.601),
            (\.Km0, 5.4627, 0.099),
            (\.p2u, -3.4347, 0.342),
            (\.m1, -1.6648, 0.341),
            (\.CL, 0.1450, 0.091),
            (\.ki, -4.8962, 0.537),
            (\.kp2, -5.5527, 0.401),
            (\.kp3, -4.7758, 0.492),
            (\.kd, -4.1468, 0.119),
            (\.ka1, -5.7206, 0.258),
            (\.ka2, -4.1828, 0.307),
            (\.ksc, -2.3848, 0.279),
        ])
    }

    private static var child: Self {
        .init([
            (\.BW, 3.5646, 0.188),
            (\.Gb, 4.9341, 0.040),
            (\.Ib, 4.6723, 0.078),
            (\.EGPb, 1.0666, 0.193),
            (\.Vg, 0.6197, 0.065),
            (\.Vi, -2.9070, 0.233),
            (\.k1, -2.7308, 0.258),
            (\.k2, -2.3171, 0.406),
            (\.kabs, -1.9304, 0.834),
            (\.kmax, -3.2268, 0.548),
            (\.kmin, -4.5859, 0.383),
            (\.b, -0.2845, 0.170),
            (\.d, -2.0011, 0.305),
            (\.Vmx, -2.3740, 0.316),
            (\.Km0, 5.4276, 0.106),
            (\.p2u, -2.9930, 0.304),
            (\.m1, -1.5233, 0.276),
            (\.CL, -0.9750, 0.117),
            (\.ki, -4.8347, 0.427),
            (\.kp2, -5.5248, 0.619),
            (\.kp3, -4.5764, 0.431),
            (\.kd, -4.1195, 0.109),
            (\.ka1, -5.5412, 0.315),
            (\.ka2, -4.0011, 0.331),
            (\.ksc, -2.4388, 0.230),
        ])
    }
}
