"""Drives a session of `islet-live serve` step by step: it goes by no clock, and waits for each dose.

    from islet.live import begin, Driver
    server = "http://127.0.0.1:8080"
    with Driver(server, begin(server, person="adult", seed=7)) as driver:
        stand = driver.advance()
        while stand["step"]:
            step = stand["step"]
            driver.act(basal=0.05, meal=step.get("meal", 0) / 10)
            stand = driver.advance()

A step has the fields of docs/algorithm-fields.md; what is absent is left out, instants are seconds as text. What the server refuses is a `Refused` with its code,
and has changed nothing. `token` of a driver is worth keeping: with it the same session is driven on, also after the server was begun anew.
"""

import json
import urllib.error
import urllib.request

from .program import IsletError


class Refused(IsletError):
    """What the server refuses: `status` of HTTP, and the refusal's `code` (None for a request that makes no sense)."""

    def __init__(self, message, status, code):
        super().__init__(message, status)
        self.code = code


def _ask(server, method, path, body=None, secret=None, seconds=60):
    headers = {"content-type": "application/json"}
    if secret:
        headers["authorization"] = "Bearer " + secret
    data = None if body is None else json.dumps(body, allow_nan=False).encode()
    request = urllib.request.Request(server.rstrip("/") + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            text = answer.read().decode()
            return json.loads(text) if "json" in answer.headers.get("content-type", "") else text
    except urllib.error.HTTPError as problem:
        try:
            said = json.loads(problem.read().decode())
        except ValueError:
            said = {}
        raise Refused(said.get("error", str(problem)), problem.code, said.get("code")) from None


def begin(server, secret=None, **wish):
    """Begins a session that waits to be driven, and returns its id. `wish` as `POST /api/sessions` takes it: `study`, `study_text` or `person`, `session`, `seed`."""
    return _ask(server, "POST", "/api/sessions", dict(wish, pace="step"), secret)["id"]


class Driver:
    """Who drives one session. `secret` is the server's token, where it has one; `token` that of a driver who goes on."""

    def __init__(self, server, session, name="python", token=None, takes_over=False, secret=None):
        self.server, self.session, self.token, self._secret = server, session, token, secret
        self._path = "/api/sessions/%s" % session
        if token is None:
            self.token = self._say("driver", {"name": name, "takes_over": takes_over})["token"]

    def _say(self, what, body):
        return _ask(self.server, "POST", "%s/%s" % (self._path, what), body, self._secret)

    @property
    def stand(self):
        """Where it stands: `t`, `phase`, `driver`, the `step` that waits (None for none), `digest`."""
        return _ask(self.server, "GET", self._path + "/driver", secret=self._secret)

    def advance(self, minutes=None):
        """On to the next step, or by so many minutes at most; where it stands then."""
        body = {"driver": self.token}
        if minutes is not None:
            body["minutes"] = minutes
        return self._say("advance", body)

    def act(self, step=None, **dose):
        """Gives the step that waits its dose (`basal`, `correction`, `meal` in U, `forecast` in mg/dL); `step` is its number, where it is known."""
        if step is None:
            waits = self.stand["step"]
            # Without one the server says so.
            step = waits["step"] if waits else 0
        return self._say("act", dict(dose, driver=self.token, step=step))

    def tell(self, command, **fields):
        """A command of the session, such as `tell("meal", grams=40)`, between a dose and the next advance."""
        return self._say("commands", dict(fields, command=command))

    @property
    def study(self):
        """The study that the session is one of, with the doses so far, as JSON that `islet run` takes."""
        return _ask(self.server, "GET", self._path + "/study", secret=self._secret)

    def leave(self):
        """Drives no more."""
        self._say("driver/leave", {"driver": self.token})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.leave()
        except (Refused, OSError):
            pass
