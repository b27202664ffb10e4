// Results of scenario files as JUnit XML, for build servers.

package enum JUnitReport {
    package static func text(_ suites: [(file: String, suite: String, results: [AlertCaseResult])]) -> String
    {
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        for suite in suites {
            let failures = suite.results.count { !$0.passed }
            xml +=
                "  <testsuite name=\"\(escaped(suite.suite))\" tests=\"\(suite.results.count)\" failures=\"\(failures)\""
                + " errors=\"0\">\n"
            for result in suite.results {
                let head =
                    "    <testcase name=\"\(escaped(result.name))\" classname=\"\(escaped(suite.suite))\""
                    + " file=\"\(escaped(suite.file))\""
                if result.passed {
                    xml += head + "/>\n"
                } else {
                    let diff = escaped(result.differences.joined(separator: "\n"))
                    xml +=
                        head
                        + ">\n      <failure message=\"effects differ\">\(diff)</failure>\n    </testcase>\n"
                }
            }
            xml += "  </testsuite>\n"
        }
        return xml + "</testsuites>\n"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "\n"
            case _ where scalar.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
