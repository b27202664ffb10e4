#!/usr/bin/env python3
"""How fast `islet-live serve` answers with a hundred sessions, and what two hundred open pages cost.

Usage: load_page.py --islet-live PATH [--sessions 100] [--streams 200] [--minutes 10] [--seconds 60] [--pace 60]

  snapshot      GET /api/sessions/ID of random sessions, four at a time, over kept connections: p99 under 50 ms
  told          a command is sent, and its event comes on a stream: from before the command is sent (so with its sync to disk) to the event; p99 under 250 ms
  happened      a reading comes on a stream: later than its instant by how much, against the earliest of its session; p99 under 250 ms.
                Wall time of an event is its session time by the pace; what all events of a session are late by isn't seen here, and `told` sees it.
  streams       then 200 event streams for so many minutes, 30 of them read a byte a second, 30 vanish and come again: memory must not grow on after its first
                quarter (by more than 5 % and 20 MB), and no session may gain less than 95 % of the time that it gains without pages
All times are of one machine's monotonic clock, and mean something in a release build on a machine that does nothing else. Raw sockets, no browser; this client takes
its share of the processor. The last line is `N passed, N failed`.
"""

import argparse
import asyncio
import json
import random
import socket
import statistics
import time

from page_server import STUDY, Checks, Server

SNAPSHOT_BAR, EVENT_BAR = 0.050, 0.250


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


class Line:
    """A kept connection."""

    def __init__(self, server):
        self.server, self.reader, self.writer = server, None, None

    async def get(self, method, path, body=None):
        """A connection that stood idle may have been closed by the server: then a new one."""
        try:
            return await self.once(method, path, body)
        except (IndexError, ConnectionError, asyncio.IncompleteReadError):
            self.close()
            self.writer = None
            return await self.once(method, path, body)

    async def once(self, method, path, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.server.host, self.server.port)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}\r\nContent-Length: {len(data)}\r\nContent-Type: application/json\r\n\r\n"
        self.writer.write(head.encode() + data)
        status = int((await self.reader.readline()).split()[1])
        length, chunked = 0, False
        while (line := await self.reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            length = int(value) if name.lower() == "content-length" else length
            chunked = chunked or (name.lower() == "transfer-encoding" and "chunked" in value)
        if chunked:
            body = b""
            while size := int((await self.reader.readline()).split(b";")[0], 16):
                body += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(length)
        return status, body

    def close(self):
        if self.writer:
            self.writer.close()


async def stream(server, path, hear, until_time, pause=0.0, least=None):
    """Reads a stream, `pause` seconds between bytes where it is slow; `hear` gets each event."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    if pause:
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAccept: text/event-stream\r\n\r\n".encode())
    event, end = "message", until_time if least is None else min(until_time, time.monotonic() + least)
    try:
        while (left := end - time.monotonic()) > 0:
            if pause:
                if not await asyncio.wait_for(reader.read(1), left):
                    return False
                await asyncio.sleep(pause)
                continue
            line = await asyncio.wait_for(reader.readline(), left)
            if not line:
                return False
            if line.startswith(b"event:"):
                event = line[6:].strip().decode()
            elif line.startswith(b"data:"):
                now = time.monotonic()
                hear(event, json.loads(line[5:]), now)
    except (TimeoutError, asyncio.TimeoutError, ConnectionError, ValueError):
        pass
    finally:
        if least is not None:
            # Vanishes: no goodbye.
            link = writer.get_extra_info("socket")
            if link is not None:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        writer.close()
    return True


async def snapshots(server, sessions, seconds):
    took, wrong = [], []

    async def one(seed):
        chance, line = random.Random(seed), Line(server)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            status, _ = await line.get("GET", f"/api/sessions/{chance.choice(sessions)}")
            took.append(time.monotonic() - began)
            if status != 200:
                wrong.append(status)
            await asyncio.sleep(chance.random() * 0.02)
        line.close()

    await asyncio.gather(*(one(n) for n in range(4)))
    return took, wrong


async def told(server, sessions, seconds, pace):
    """Delays of commands' events, and of sessions' own."""
    chosen, waiting, delays, own = sessions[:20], {}, [], {}
    end = time.monotonic() + seconds

    def hearer(session):
        def hear(event, data, now):
            if event != "happened":
                return
            # A value that nobody else has in these seconds names the command's event.
            if session in waiting and waiting[session][1] in data["text"]:
                delays.append(now - waiting.pop(session)[0])
            elif data["text"].startswith("reading"):
                # Of a delivery the instant is the request's, and it is told when it is over.
                own.setdefault(session, []).append(now - data["t"] / pace)

        return hear

    async def sends():
        line, chance, number = Line(server), random.Random(3), 0
        await asyncio.sleep(2)
        while time.monotonic() < end - 3:
            session = chance.choice(chosen)
            number += 1
            value = 401 + number % 590
            if session not in waiting:
                waiting[session] = (time.monotonic(), str(value))
                status, _ = await line.get("POST", f"/api/sessions/{session}/commands", {"command": "bloodGlucose", "mgdl": value})
                if status != 202:
                    waiting.pop(session, None)
            await asyncio.sleep(0.1)
        line.close()

    await asyncio.gather(sends(), *(stream(server, f"/api/sessions/{s}/events", hearer(s), end) for s in chosen))
    late = [value - min(values) for values in own.values() if len(values) > 3 for value in values]
    return delays, late, len(waiting)


async def gained(server, sessions, seconds, during=None):
    """Session seconds per second of each session, while `during` goes on."""
    line = Line(server)

    async def stand():
        """When each session's time was seen to move on, and to where: a view's time stands still between events."""
        found, seen, end = {}, {}, time.monotonic() + 30
        while len(found) < len(sessions) and time.monotonic() < end:
            for session in sessions:
                if session in found:
                    continue
                now = json.loads((await line.get("GET", f"/api/sessions/{session}"))[1])["t"]
                if now != seen.setdefault(session, now):
                    found[session] = (time.monotonic(), now)
            await asyncio.sleep(0.02)
        return found

    before = await stand()
    if during:
        await during
    else:
        await asyncio.sleep(seconds)
    after = await stand()
    line.close()
    return {s: (after[s][1] - before[s][1]) / (after[s][0] - before[s][0]) for s in sessions if s in before and s in after}


async def pages(server, sessions, count, minutes, memory):
    end = time.monotonic() + minutes * 60
    heard, cut = [0], [0]

    def hear(*_):
        heard[0] += 1

    async def steady(number):
        while time.monotonic() < end - 1:
            if not await stream(server, f"/api/sessions/{sessions[number % len(sessions)]}/events", hear, end):
                cut[0] += 1
                await asyncio.sleep(0.5)

    async def slow(number):
        while time.monotonic() < end - 1:
            try:
                if not await stream(server, f"/api/sessions/{sessions[number % len(sessions)]}/events", hear, end, pause=1.0):
                    cut[0] += 1
            except OSError:
                pass
            await asyncio.sleep(1)

    async def vanishing(number):
        chance = random.Random(number)
        while time.monotonic() < end - 1:
            try:
                await stream(server, f"/api/sessions/{sessions[number % len(sessions)]}/events", hear, end, least=1 + 4 * chance.random())
            except OSError:
                await asyncio.sleep(0.5)

    async def watch():
        while time.monotonic() < end - 1:
            memory.append(server.resident_kb())
            await asyncio.sleep(min(5, minutes * 60 / 40))

    odd = count * 3 // 20
    kinds = [slow] * odd + [vanishing] * odd + [steady] * (count - 2 * odd)
    await asyncio.gather(watch(), *(kind(n) for n, kind in enumerate(kinds)), return_exceptions=True)
    return heard[0], cut[0]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--sessions", type=int, default=100)
    arguments.add_argument("--streams", type=int, default=200)
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--pace", type=float, default=60)
    given = arguments.parse_args()
    check = Checks()
    study = STUDY.replace("count: 4", f"count: {given.sessions}")
    with Server(given.islet_live) as server:
        client = server.client()
        began = time.monotonic()
        sessions = [client.create(study, n, f"{given.pace:g}", f"loaded {n}") for n in range(given.sessions)]
        print(f"{len(sessions)} sessions in {time.monotonic() - began:.1f} s, {server.resident_kb() // 1000} MB", flush=True)
        time.sleep(3)
        took, wrong = asyncio.run(snapshots(server, sessions, given.seconds))
        print(f"snapshot: {len(took)}, p50 {quantile(took, 0.5) * 1e3:.1f} ms, p99 {quantile(took, 0.99) * 1e3:.1f} ms, most {max(took) * 1e3:.1f} ms", flush=True)
        check("load.snapshot-p99", quantile(took, 0.99) < SNAPSHOT_BAR and not wrong, (quantile(took, 0.99), wrong[:3]))
        delays, late, missed = asyncio.run(told(server, sessions, given.seconds, given.pace))
        for name, values in (("told", delays), ("happened", late)):
            print(f"{name}: {len(values)}, p50 {quantile(values, 0.5) * 1e3:.1f} ms, p99 {quantile(values, 0.99) * 1e3:.1f} ms, most {max(values, default=0) * 1e3:.1f} ms", flush=True)
            check(f"load.{name}-p99", len(values) > 20 and quantile(values, 0.99) < EVENT_BAR, quantile(values, 0.99))
        check("load.every-command-is-told", missed <= 2, missed)
        if given.minutes:
            alone = asyncio.run(gained(server, sessions, min(60, given.minutes * 60)))
            memory, counts = [], []

            async def both():
                async def during():
                    counts.extend(await pages(server, sessions, given.streams, given.minutes, memory))

                return await gained(server, sessions, 0, during())

            with_pages = asyncio.run(both())
            ratio = {s: with_pages.get(s, 0) / alone[s] if alone.get(s) else 0 for s in sessions}
            quarter = memory[len(memory) // 4] if memory else 0
            print(f"pace: {statistics.mean(alone.values()):.2f} without pages, {statistics.mean(with_pages.values()):.2f} with; the slowest session at {min(ratio.values()) * 100:.1f} %", flush=True)
            print(f"memory: {memory[0] // 1000} MB at first, {quarter // 1000} after a quarter, {max(memory) // 1000} at most, {memory[-1] // 1000} at the end; {counts[0]} events heard, {counts[1]} streams cut", flush=True)
            check("load.no-session-slowed", min(ratio.values()) > 0.95, min(ratio.values()))
            check("load.memory-bounded", memory[-1] < quarter * 1.05 + 20_000, (quarter, memory[-1]))
            check("load.streams-are-heard", counts[0] > given.streams, counts)
        check("load.server-still-answers", server.answers(), server.said()[-300:])
    check.end()


if __name__ == "__main__":
    main()
