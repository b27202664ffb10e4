// The sentence of missing insulin: one for the alert, the page and the terminal.

extension LoopInsulin {
    /// What is said of a share below 100 %: corrections are missing too, so what is missing is told by the basal that it comes to, of the last two hours or since
    /// the start.
    public static func missing(share: Double) -> ValueText {
        let missing = 100 - max(0, share).rounded(.down)
        return missing < 100
            ? "Insulin is missing: basal and corrections worth \(missing, unit: "%") of up to 2 h of basal."
            : "Insulin is missing: basal and corrections worth up to 2 h of basal, or more."
    }
}
