// Results of scenario files as JUnit XML, for build servers.

package enum JUnitReport {
    package static func text(_ suites: [(file: String, suite: String, results: [AlertCaseResult])]) -> String
    {
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        for suite in suites {
            let failures = suite.results.count { !$0.passed }
            xml +=
                "  <testsuite name=\"\(Markup.escaped(suite.suite))\" tests=\"\(suite.results.count)\" failures=\"\(failures)\""
                + " errors=\"0\">\n"
            for result in suite.results {
                let head =
                    "    <testcase name=\"\(Markup.escaped(result.name))\" classname=\"\(Markup.escaped(suite.suite))\""
                    + " file=\"\(Markup.escaped(suite.file))\""
                if result.passed {
                    xml += head + "/>\n"
                } else {
                    let diff = result.differences.map(Markup.escaped).joined(separator: "\n")
                    xml +=
                        head
                        + ">\n      <failure message=\"effects differ\">\(diff)</failure>\n    </testcase>\n"
                }
            }
            xml += "  </testsuite>\n"
        }
        return xml + "</testsuites>\n"
    }
}
