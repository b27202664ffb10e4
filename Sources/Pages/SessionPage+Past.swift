import Alerts
import Charts
import ClosedLoop
import Devices
import Live
import Records
import SessionTime
import Ward

extension SessionPage {
    var pastPage: [Surface] { [frozen, banner, glucose, loop, pump, charts, summary] }
}
