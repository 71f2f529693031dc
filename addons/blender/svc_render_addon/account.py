# SPDX-License-Identifier: GPL-3.0-or-later
"""Signing in by a code that a person types in the browser (RFC 8628), and the tokens of it.

The tokens lie in Blender's configuration folder, in a file that only its owner can read, and
go only to the server where they were made. An access token lives for an hour; the refresh
token works once, so only the holder of the file's lock uses it."""

import json
import os
import time
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from . import files
from .svc_render import Client, SvcError
from .svc_render.errors import ApiError
from .svc_render.transport import Body, Transport
from .version import VERSION

CLIENT_ID = "svc-blender"
SCOPES = "render:read render:spend"
USER_AGENT = "svc-blender/" + VERSION
#: A token with fewer seconds left is refreshed before it is used.
EARLY = 120


class SignInNeeded(SvcError):
    """There are no tokens, or they have ended: sign in."""


class SignInRefused(SvcError):
    """The person said no, or did not answer in time."""


class Code(NamedTuple):
    """A sign-in that waits for a person."""

    server: str
    user_code: str
    address: str  # where the person types the code
    complete: str  # the same with the code in it
    device_code: str
    interval: float  # seconds between two questions
    ends: float  # time.monotonic()


class Account:
    """The one account of this Blender. ``folder`` is the add-on's own. The environment's
    SVC_KEY, with SVC_SERVER, comes first: a farm's scripts have no browser."""

    def __init__(self, folder, environment=os.environ):
        self._path = os.path.join(folder, "sign-in.json")
        self._environment = environment
        self._read = files.Kept(self._path)

    def server(self):
        """The address of the service that one is signed in to; "" of none."""
        if self._environment.get("SVC_KEY"):
            return self._environment.get("SVC_SERVER", "")
        return (self._stored() or {}).get("server", "")

    def client(self):
        """A client of the service, for any number of threads. Error: SignInNeeded."""
        server = self.server()
        if not server:
            raise SignInNeeded("Sign in first.")
        key = self._environment.get("SVC_KEY")
        return Client(server, key or (lambda: self._token(server)), user_agent=USER_AGENT)

    def begin(self, server):
        """Asks for a code. The person goes to its address, types it and answers."""
        server = server.strip().rstrip("/")
        wire = _wire(server)
        resource = wire.json("GET", "/.well-known/oauth-protected-resource").get("resource", server)
        status, told = _post(wire, "/oauth/device", {"client_id": CLIENT_ID, "scope": SCOPES, "resource": resource})
        if status != 200:
            raise SignInRefused(str(told.get("error_description") or "The service gives no code."))
        address = str(told["verification_uri"])
        complete = str(told.get("verification_uri_complete") or address)
        if not all(urlsplit(one).scheme in ("http", "https") for one in (address, complete)):
            raise SignInRefused("The service names an address that is no web page.")
        return Code(server, str(told["user_code"]), address, complete, str(told["device_code"]),
                    float(told.get("interval", 5)), time.monotonic() + float(told["expires_in"]))

    def finish(self, code, stop):
        """Waits for the person's answer and keeps the tokens. ``stop``, an event, ends the
        waiting. Error: SignInRefused."""
        wire, interval = _wire(code.server), code.interval
        while not stop.wait(interval):
            if time.monotonic() > code.ends:
                raise SignInRefused("Nobody answered in time. Sign in again.")
            try:
                status, told = _post(wire, "/oauth/token", {
                    "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": CLIENT_ID,
                    "device_code": code.device_code})
            except SvcError:
                continue  # a lost connection, or a limit: the next question asks the same
            error = told.get("error")
            if status == 200:
                with files.locked(self._path):
                    self._keep(code.server, told)
                return
            if error == "slow_down":
                interval += 5
            elif error != "authorization_pending":
                raise SignInRefused("The service did not let Blender in: %s." % (told.get("error_description") or error))

    def sign_out(self):
        """Ends the key at the service and forgets the tokens, even if the service cannot be
        reached: then the key expires, or is ended on the page of keys."""
        stored = self._stored()
        with files.locked(self._path):
            if os.path.exists(self._path):
                os.unlink(self._path)
        if stored:
            _post(_wire(stored["server"]), "/oauth/revoke", {"token": stored["refresh_token"], "client_id": CLIENT_ID})

    def _stored(self):
        stored = self._read()
        return stored if isinstance(stored, dict) and stored.get("access_token") else None

    def _keep(self, server, told):
        files.write(self._path, {
            "server": server, "access_token": told["access_token"], "refresh_token": told["refresh_token"],
            "ends": time.time() + float(told["expires_in"])})

    def _token(self, server):
        """An access token that is good for a while."""
        stored = self._stored()
        if stored and stored["server"] == server and stored["ends"] - time.time() > EARLY:
            return stored["access_token"]
        with files.locked(self._path):
            stored = self._stored()  # another thread or Blender may have refreshed it
            if not stored or stored["server"] != server:
                raise SignInNeeded("Sign in again.")
            if stored["ends"] - time.time() > EARLY:
                return stored["access_token"]
            status, told = _post(_wire(server), "/oauth/token", {
                "grant_type": "refresh_token", "client_id": CLIENT_ID, "refresh_token": stored["refresh_token"]})
            if status != 200:
                os.unlink(self._path)
                raise SignInNeeded("Your sign-in has ended. Sign in again.")
            self._keep(server, told)
            return told["access_token"]


def _wire(server):
    return Transport(server, "", 30.0, 4, USER_AGENT, None, None, time.sleep)


def _post(wire, path, form):
    """A form to an endpoint of OAuth, once; its status (200 or 400) and its answer. Anything
    else is an SvcError."""
    text = urlencode(form).encode("ascii")
    with wire.open("POST", path, body=Body((text,), len(text), "application/x-www-form-urlencoded")) as answer:
        if answer.status not in (200, 400):
            raise answer.refusal()
        try:
            told = json.loads(answer.read_all().decode("utf-8"))
        except ValueError:
            told = None
        if not isinstance(told, dict) or (answer.status == 400 and not isinstance(told.get("error"), str)):
            raise ApiError(answer.call, answer.status, told)
        return answer.status, told
