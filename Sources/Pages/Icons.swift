// Small pictures beside words.
//
// Guarantees: each is decoration (`aria-hidden`): the word beside it says the same; colours come from the text around.

import IsletFiles

enum Icon: String {
    case bell = "M12 3a6 6 0 0 0-6 6v4l-2 4h16l-2-4V9a6 6 0 0 0-6-6zm-2 16a2 2 0 0 0 4 0"
    case urgent = "M12 3 2.5 20h19zM12 10v5m0 2.6v.4"
    case action = "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5v6m0 2.6v.4"
    case information = "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5m0-9v.4"
    case check = "m5 12.5 4.5 4.5L19 7"
    case previous = "m6 15 6-6 6 6"
    case next = "m6 9 6 6 6-6"
    case loop = "M4.5 12a7.5 7.5 0 0 1 13-5l2 2m0-5v5h-5M19.5 12a7.5 7.5 0 0 1-13 5l-2-2m0 5v-5h5"
    case pause = "M8 5v14M16 5v14"
    case stop = "M6 6h12v12H6z"
    case wait = "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7v5l3.5 2"
    case frozen = "M12 3v18M4 7.5l16 9M20 7.5l-16 9"
    case muted = "M4 9.5v5h3.5L12 19V5L7.5 9.5zM16 9.5l5 5m0-5-5 5"
    case dot = "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10M9.5 12h5M12 9.5v5M10 10l4 4m0-4-4 4"
    case ring = "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12"
    case cross = "m6 6 12 12M18 6 6 18"
    case moon = "M19 14.5A8 8 0 0 1 9.5 5a8 8 0 1 0 9.5 9.5z"
    case past = "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4.5l3 1.5"
    case eye =
        "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"

    var html: HTML {
        HTML(
            markup:
                "<svg class=\"icon\" viewBox=\"0 0 24 24\" width=\"20\" height=\"20\" aria-hidden=\"true\" focusable=\"false\"><path d=\"\(rawValue)\"/></svg>"
        )
    }
}
