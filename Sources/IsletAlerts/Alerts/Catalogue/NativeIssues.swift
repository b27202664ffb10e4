// From what pump and sensor drivers call their alerts to the catalogue's codes.

extension AlertCode {
    /// The code of a pump's own alert; nil for one that nobody knows.
    ///
    /// The word "incompatible" in the text of any pump alert is enough: a pod that can't be used must be said so.
    public static func pump(issue: String, text: String) -> AlertCode? {
        if issue == "incompatiblePod" || text.lowercased().contains("incompatible") {
            return .pumpIncompatible
        }
        return issued(issue)
    }

    /// What sensor drivers call their messages; whatever contains one of these words is understood.
    public static let cgmIssues = [
        "sensorFailed", "sensorFailure", "sensorExpired", "temporaryError", "warmup", "noReliableGlucose",
        "unavailable",
    ]

    /// The code of a sensor driver's message: by its identifier, and by its words where they say that glucose is not there
    /// for a while. Words are no reason to say that a sensor has failed.
    public static func cgm(issue: String, text: String) -> AlertCode? {
        let letters = String(issue.lowercased().filter(\.isLetter))
        for word in ["failed", "failure", "expired"] where letters.contains(word) {
            return .cgmFailedOrExpired
        }
        for word in ["temporary", "warmup", "noreliable", "unavailable"] where letters.contains(word) {
            return .cgmUnavailable
        }
        let words = text.lowercased()
        for word in ["temporary", "warm-up", "warmup", "no reliable", "unavailable"]
        where words.contains(word) {
            return .cgmUnavailable
        }
        return nil
    }
}
