// The page of reference of study files.

import IsletFiles

extension Study {
    /// docs/study-files.md.
    package static var reference: String { shape.reference(title: "Study files", level: 1) }
}
