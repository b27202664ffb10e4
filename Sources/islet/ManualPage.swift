// The manual page as roff, from what the commands say of themselves.
//
// Guarantees: every command, option and example of `--help` stands in it, and nothing else; a line that begins with a dot or an apostrophe, and every backslash,
// is text there. Does not: name a date, so that the same program writes the same page.

import IsletDevices
import IsletFiles
import IsletTrials

struct ManualPage {
    private let root: YAMLReader

    /// - Parameter tree: what the argument parser tells of the program, as JSON.
    init(_ tree: YAMLNode) { root = YAMLReader(tree) }

    var text: String {
        get throws(InputError) {
            guard let command = root["command"] else {
                throw root.problem(
                    found: "no command", expected: "what the argument parser tells of the program")
            }
            let name = try Self.text(command, "commandName")
            var page = ".TH ISLET 1 \"\" \"Islet \(BuildFacts.version)\" \"User Commands\"\n"
            page += ".SH NAME\n\(name) \\- \(Self.escaped(try Self.text(command, "abstract")))\n"
            page += ".SH SYNOPSIS\n.B \(name)\n.I command\n[\\fIoptions\\fR]\n"
            page += ".SH DESCRIPTION\n" + Self.body(try Self.text(command, "discussion"))
            page += ".SH COMMANDS\n"
            for child in command["subcommands"]?.items ?? [] { page += try Self.section(child, name) }
            return page
        }
    }

    private static func text(_ reader: YAMLReader, _ key: String) throws(InputError) -> String {
        try reader[key]?.text() ?? ""
    }

    private static func flag(_ reader: YAMLReader, _ key: String) throws(InputError) -> Bool {
        try reader[key]?.flag() ?? false
    }

    /// A command and those below it.
    private static func section(_ command: YAMLReader, _ before: String) throws(InputError) -> String {
        guard try flag(command, "shouldDisplay") else { return "" }
        let name = before + " " + (try text(command, "commandName"))
        guard try text(command, "commandName") != "help" else { return "" }
        var page = ".SS \(escaped(name))\n\(escaped(try text(command, "abstract")))\n"
        for argument in command["arguments"]?.items ?? [] where try flag(argument, "shouldDisplay") {
            let names = try self.names(argument)
            guard names != "\\-h, \\-\\-help", names != "\\-\\-version" else { continue }
            page += ".TP\n\(names)\n\(escaped(try text(argument, "abstract")))\n"
            let more = try text(argument, "discussion")
            if !more.isEmpty { page += escaped(more) + "\n" }
        }
        let discussion = try text(command, "discussion")
        if !discussion.isEmpty { page += ".PP\n" + body(discussion) }
        for child in command["subcommands"]?.items ?? [] { page += try section(child, name) }
        return page
    }

    /// `\fB\-\-out\fR \fIout\fR`
    private static func names(_ argument: YAMLReader) throws(InputError) -> String {
        let value = try text(argument, "valueName")
        let kind = try text(argument, "kind")
        guard kind != "positional" else { return "\\fI\(escaped(value))\\fR" }
        var names: [String] = []
        for name in argument["names"]?.items ?? [] {
            let dashes = try text(name, "kind") == "short" ? "\\-" : "\\-\\-"
            names.append(dashes + escaped(try text(name, "name")))
        }
        let all = names.joined(separator: ", ")
        return kind == "flag" ? all : "\\fB\(all)\\fR \\fI\(escaped(value))\\fR"
    }

    /// Prose is filled; lines that are further in, as examples are, stay as they are.
    private static func body(_ text: String) -> String {
        var page = ""
        var isVerbatim = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isInner = line.hasPrefix("  ")
            if isInner != isVerbatim {
                page += isInner ? ".RS\n.nf\n" : ".fi\n.RE\n"
                isVerbatim = isInner
            }
            page += line.isEmpty ? ".PP\n" : escaped(String(line.drop { $0 == " " })) + "\n"
        }
        return page + (isVerbatim ? ".fi\n.RE\n" : "")
    }

    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
