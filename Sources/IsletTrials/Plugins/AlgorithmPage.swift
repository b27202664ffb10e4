// The rows of `islet-step/1` as a page and as a C header, from the one table of fields.

package enum AlgorithmPage {
    /// docs/algorithm-fields.md.
    package static var markdown: String {
        """
        # Fields of `islet-step/1`

        Written by `islet algorithm fields`. What an algorithm of one's own is told and answers
        ([algorithms.md](algorithms.md)), in the order of the packed layout: each cell has eight bytes,
        little endian. An `int64 ns` is nanoseconds since the session's start, the least integer where
        absent; in `lines` it is seconds, as text with nine places. A `float64` that is absent is NaN; in
        `lines` what is absent is left out.


        """
            + section("begin", "sent where a state begins, and where a setting changes", StepFields.begin)
            + "\n"
            + section("step", "one step of one person", StepFields.step) + "\n"
            + section(
                "history", "the hours before, where a state begins in the middle of somebody's day",
                StepFields.history) + "\n" + section("dose", "the answer", StepFields.dose) + "\n"
            + section(
                "own", "before the answer, or in place of it: numbers of one's own, for alert rules",
                StepFields.own)
    }

    private static func section<Row>(_ name: String, _ what: String, _ fields: [StepField<Row>]) -> String {
        var text =
            "## `\(name)`: \(what)\n\n| at | field | type | unit | meaning | absent |\n|---:|---|---|---|---|---|\n"
        for (place, field) in fields.enumerated() {
            let unit = field.kind == .instant || field.unit == "1" ? "" : field.unit
            text +=
                "| \(8 * place) | `\(field.name)` | \(field.kind.rawValue) | \(unit) | \(field.meaning) | \(field.absence ?? "") |\n"
        }
        return text
    }

    /// C/islet_algorithm.h.
    package static var header: String {
        """
        // The rows of islet-step/1 in C: written by `islet algorithm fields --header`. Absent: NaN, ISLET_ABSENT.
        #ifndef ISLET_ALGORITHM_H
        #define ISLET_ALGORITHM_H

        #include <stdint.h>

        #define ISLET_ABSENT INT64_MIN
        enum islet_kind { \(kinds) };
        enum islet_flags {
            ISLET_PUMP_AVAILABLE = 1, ISLET_OPEN_LOOP = 2, ISLET_PUMP_BASAL_KNOWN = 4, ISLET_HAS_HISTORY = 8, ISLET_UNDO = 16
        };

        // A frame: this head, its rows, and the CRC-32 of both as a uint32_t.
        struct islet_head {
            char magic[4];
            uint32_t kind, rows, bytes;
        };

        \(structure("begin", StepFields.begin))
        \(structure("step", StepFields.step))
        \(structure("history", StepFields.history))
        \(structure("dose", StepFields.dose))
        \(structure("own", StepFields.own))
        // For `library:`. What a shared library answers `islet_algorithm()` with; its state is a block of bytes that Islet holds, zero where it begins.
        struct islet_parameter {
            const char *name, *unit, *meaning;
            double least, most, value;
        };
        struct islet_algorithm {
            const char *name;
            int64_t version;
            int32_t gives_basal, parameter_count;
            double forecast_minutes;  // 0: it makes no forecasts
            uint64_t state_bytes;
            const struct islet_parameter *parameters;
            // Fills `dose`, whose handle and step are set; returns NULL, or why the step fails.
            const char *(*step)(
                const double *parameters, const struct islet_begin *person, const struct islet_step *row,
                const struct islet_history *history, int32_t history_rows, void *state, struct islet_dose *dose);
        };
        const struct islet_algorithm *islet_algorithm(void);

        // Optional: numbers of its own, for alert rules, as `own.NAME`. A listener doses nothing. `fill` is called after `step`, with the state that it left;
        // all eight are NaN before, which is absent.
        struct islet_number {
            const char *name, *unit, *meaning;
        };
        struct islet_numbers {
            int32_t is_listener, count;
            const struct islet_number *numbers;
            void (*fill)(
                const double *parameters, const struct islet_begin *person, const struct islet_step *row, const void *state,
                double own[8]);
        };
        const struct islet_numbers *islet_numbers(void);

        #endif

        """
    }

    private static var kinds: String {
        [
            ("BEGIN", PluginFrame.begin), ("HISTORY", .history), ("STEP", .step), ("DOSE", .dose),
            ("FAIL", .fail), ("END", .end), ("BYE", .bye), ("OWN", .own),
        ]
        .map { "ISLET_\($0.0) = \($0.1.rawValue)" }.joined(separator: ", ")
    }

    private static func structure<Row>(_ name: String, _ fields: [StepField<Row>]) -> String {
        var text = "struct islet_\(name) {\n"
        for field in fields {
            switch field.kind {
            case .whole, .instant: text += "    int64_t \(field.name);"
            case .real: text += "    double \(field.name);"
            case .text: text += "    char \(field.name)[8];"
            }
            let unit = field.kind == .instant ? "ns" : field.unit
            text += "  // \(unit.isEmpty || unit == "1" ? "" : unit + ": ")\(field.meaning)\n"
        }
        return text + "};\n"
    }
}
