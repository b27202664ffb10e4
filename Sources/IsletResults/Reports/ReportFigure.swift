// One figure of a report: the same in the page and as a file.

package import IsletFiles

package struct ReportFigure: Sendable {
    /// Names its file and its element: letters, digits and dashes.
    package var name: String
    package var chart: any Figure
    /// The figure as a phone shows it, where this one is wide.
    var narrow: (any Figure)?
    /// Where a file needs what the page says elsewhere, such as a legend.
    var own: (any Figure)?
    /// What to see in it, below it.
    var caption: HTML = ""

    /// As a file of its own.
    package var file: any Figure { own ?? chart }

    var html: HTML {
        let wide: HTML =
            narrow == nil
            ? HTML(markup: chart.svg(id: name))
            : "<div class=\"only-wide\">\(HTML(markup: chart.svg(id: name)))</div>"
        let small: HTML =
            narrow.map { "<div class=\"only-narrow\">\(HTML(markup: $0.svg(id: name + "-narrow")))</div>" }
            ?? ""
        let words: HTML = caption.isEmpty ? "" : "<figcaption>\(caption)</figcaption>"
        return "<figure id=\"figure-\(name)\">\(wide)\(small)\(words)</figure>\n"
    }
}
