// Values, units, names and sentences of the files, which are in mg/dL, as a person reads them.
//
// Guarantees: what has mg/dL in its unit (means, SDs, differences, ends of intervals, standard errors, rates, areas) is multiplied by one
// factor, as glucose has no offset; what hasn't, such as a percentage, is left alone. In sentences a value and the bound that it is compared
// with keep their order. In mg/dL everything stays as it is, to the byte.
// Does not: read a sentence: only a `ValueText` has amounts. Nor convert the bounds in names, such as 70 in `tbr_70_percent`: `note` says what they are.

package import IsletDevices

extension GlucoseUnit {
    /// What a value in this unit of the files is multiplied by.
    package func factor(of unit: String) -> Double { converts(unit) ? value(mgdl: 1) : 1 }

    /// Whether values in this unit of the files are shown as others.
    package func converts(_ unit: String) -> Bool { self != .mgdl && unit.hasPrefix(Self.mgdl.rawValue) }

    /// A unit of the files as it is shown: `mg/dL·min` → `mmol/L·min`.
    package func text(ofUnit unit: String) -> String {
        converts(unit) ? rawValue + unit.dropFirst(Self.mgdl.rawValue.count) : unit
    }

    /// An outcome's name as it is shown: `mean_mgdl` → `mean_mmoll`.
    package func text(ofName name: String) -> String {
        self != .mgdl && name.hasSuffix("_mgdl") ? name.dropLast(4) + "mmoll" : name
    }

    /// What a text in this unit says at its end; nil where files and text have the same.
    package var note: String? {
        guard self != .mgdl else { return nil }
        let bounds = [54.0, 70, 180, 250].map {
            "\(Int($0)) is \(ChartNumber.plain(value(mgdl: $0), places: 1))"
        }
        return
            "glucose in \(rawValue). In names \(bounds.joined(separator: ", ")). Files keep the units of their names."
    }

    // MARK: Sentences

    /// A sentence with its amounts in this unit, by their values: its words are not read.
    package func text(_ sentence: ValueText) -> String {
        guard self != .mgdl else { return sentence.text }
        return sentence.parts.map { part in
            switch part {
            case .words(let words), .timeOfDay(let words): words
            case .amount(let amount, let written): converts(amount.unit) ? text(amount) : written
            }
        }.joined()
    }

    /// A sentence as it is told to people: glucose without decimals that no meter has, on its side of what it is compared with.
    package func spoken(_ sentence: ValueText) -> String {
        sentence.parts.map { part in
            guard case .amount(let amount, let written) = part else {
                return switch part {
                case .words(let words), .timeOfDay(let words): words
                case .amount(_, let written): written
                }
            }
            if converts(amount.unit) { return text(amount) }
            guard amount.unit.hasPrefix(Self.mgdl.rawValue) else { return written }
            let places = amount.unit == Self.mgdl.rawValue ? 0 : 1
            let shown = pair(amount.number, amount.comparedWith, places: places).value
            return amount.showsUnit ? shown + " " + amount.unit : shown
        }.joined()
    }

    private func text(_ amount: ValueText.Amount) -> String {
        let shown = pair(amount.number, amount.comparedWith, places: places(of: amount.unit)).value
        return amount.showsUnit ? shown + " " + text(ofUnit: amount.unit) : shown
    }

    /// Decimals that a value in this unit of the files is shown with: one for mmol/L, two for what is smaller, as a rate.
    package func places(of unit: String) -> Int { unit == Self.mgdl.rawValue ? 1 : 2 }

    /// A value and what it is compared with, with more places where both would else look alike or change sides.
    package func pair(
        _ mgdl: Double, _ bound: Double?, places fewest: Int = 1
    ) -> (value: String, bound: String?) {
        let (value, other) = (value(mgdl: mgdl), bound.map { self.value(mgdl: $0) })
        for places in fewest...6 {
            let text = ChartNumber.plain(value, places: places)
            guard let bound, let other else { return (text, nil) }
            let against = ChartNumber.plain(other, places: places)
            guard let shown = Double(text), let shownBound = Double(against) else { break }
            if (shown < shownBound) == (mgdl < bound), (shown > shownBound) == (mgdl > bound) {
                return (text, against)
            }
        }
        return ("\(value)", other.map { "\($0)" })
    }
}
