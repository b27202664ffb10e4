// `islet power PILOT`: how many people and days a difference takes.

import ArgumentParser
import IsletCommands
import IsletFiles
import Foundation
import IsletResults
import IsletDevices
import IsletTrials

/// `islet power`
struct PowerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "power", abstract: "How many people and days would show a difference, by a pilot.",
        discussion: """
            PILOT is a results folder with the two arms. Says how many people it takes for a study to find --difference in --metric with
            90 % power (the mean's 95 % interval and the rank test must both say so; where the pilot's study has a margin, its gate must open, too, as nothing
            is `shown` else): from the sd of the pilot's paired differences, and, for
            other durations, from what its first half comes to, which is run again. Twice the pilot's days are as far as it tells.
            "to be safe" is what it takes if people differ as much as 4 of 5 pilots would let them.

            Examples:
              islet power results/pilot --metric alerts_notifications_night_per_day --difference -0.2
              islet power results/pilot --metric tir_70_180_percent --difference 2 --subjects 60 --days 14
            """)

    @Argument(help: "A study's output directory.", completion: .directory)
    var pilot: String

    @Option(help: "The outcome, as in summary.json.")
    var metric: String

    @Option(
        parsing: .unconditional,
        help: "The difference to be shown: arm less reference, in the outcome's unit.")
    var difference: Double

    @Option(help: "The arm, where the pilot has several beside the reference.")
    var arm: String?

    @Option(help: "Outcomes × arms that the study will claim: p is adjusted for so many.")
    var comparisons = 1

    @Option(help: "The power.")
    var power = 0.9

    @Option(help: "Also the power that so many people would have.")
    var subjects: Int?

    @Option(help: "Only this duration.")
    var days: Double?

    @OptionGroup var source: CohortSource

    @OptionGroup var threads: ThreadCount

    @OptionGroup var algorithms: AlgorithmPermission

    @OptionGroup var units: GlucoseUnits

    func validate() throws {
        if !(power > 0.05 && power < 1) {
            throw ValidationError("--power takes a number between 0.05 and 1.")
        }
        if !(1...10_000).contains(comparisons) {
            throw ValidationError("--comparisons takes a number from 1 to 10000.")
        }
        if let subjects, !(1...1_000_000).contains(subjects) {
            throw ValidationError("--subjects takes a number from 1 to 1000000.")
        }
        if let days, !(days >= 1 && days <= 3650) {
            throw ValidationError("--days takes a number from 1 to 3650.")
        }
        if !difference.isFinite || difference == 0 {
            throw ValidationError("--difference takes a number other than 0.")
        }
    }

    func run() throws {
        let interrupt = Interrupt()
        let values = try CompareCommand.values(pilot)
        let pair = try PowerPilot(values, metric: metric, arm: arm)
        let plan = try PowerPlan(
            pair.differences, days: pair.days, difference: difference, power: power, comparisons: comparisons,
            gate: pair.gate, pilot: pilot)
        let half: (days: Double, differences: [Double])?
        do {
            half = try pair.firstHalf(
                studyPath: source.study ?? pilot, jobs: threads.count, allowsAlgorithms: algorithms.isGiven,
                isInterrupted: { interrupt.isRaised })
        } catch is CancellationError {
            throw OutputError(.temporary, path: pilot, message: "interrupted")
        }
        let (rows, parts) = try plan.rows(half: half, subjects: subjects, days: days, pilot: pilot)
        try StandardStream.output.write(pair.text(plan, rows, parts, subjects: subjects, in: units.unit))
    }
}
