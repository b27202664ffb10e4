"""simglucose's own basal-bolus controller, as it is published, for any person of a study: `pip install simglucose` first.

The class knows simglucose's thirty people by name, and gives everybody else an average person's settings; here each person has those of
the study, in the tables that the class reads. It is told of meals, as simglucose tells it, and gives their insulin.
"""

import islet.algorithm as ia
import pandas
from simglucose.controller.basal_bolus_ctrller import BBController


def controller(person):
    bb = BBController(target=person.target)
    therapy = person.therapy
    bb.quest = pandas.DataFrame({"Name": [person.subject], "CR": [therapy.cr], "CF": [therapy.cf], "TDI": [therapy.tdi]})
    # Its basal is u2ss * BW / 6000 U/min.
    u2ss = therapy.basal / 60 * 6000 / therapy.weight
    bb.patient_params = pandas.DataFrame({"Name": [person.subject], "u2ss": [u2ss], "BW": [therapy.weight]})
    return bb


ia.serve(ia.from_simglucose(controller, name="simglucose-bb", announces_meals=True))
