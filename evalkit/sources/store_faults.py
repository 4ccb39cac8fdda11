"""What a store's library reports, as a rule and words of our own: no text of theirs that may hold a key is shown."""

from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple

from evalkit.errors import Refusal, Violation
from evalkit.sources.identity import label
from evalkit.sources.store_systems import Place, place_of

FAILURES = (Exception,)
"""What the libraries raise for whatever goes wrong: errors of the system, of Arrow, of their clients."""

MISSING = "path-missing"

_CODES = {"path-missing": errno.ENOENT, "store-refused": errno.EACCES, "store-unreachable": errno.EHOSTUNREACH}

_DENIED = "the store refuses access; check which credentials are found, and that they may read and list here"
_NO_KEY = "no credentials were found that the store takes"
_AWAY = "the store cannot be reached; check the network and the endpoint"

_CODE = re.compile(
    r"AWS Error (?P<aws>[A-Z_0-9]+)(?: \(HTTP status (?P<status>\d+)\))?"
    r"|google::cloud::Status\((?P<google>[A-Z_]+)"
    r"|Azure Error: \[(?P<azure>\w*)\]"
)
_SAID = {
    "store-unreachable": (
        r"NETWORK_CONNECTION|curlCode|CURL error|new connection|resolve host|Could not connect|ConnectError"
        r"|Max retries exceeded|Connection refused|timed? ?out|RequestTimeout"
    ),
    "path-missing": (
        r"NO_SUCH_(BUCKET|KEY)|NoSuchBucket|NOT_FOUND|(Container|Blob|Path|Filesystem|Entry|Repository)NotFound"
        r"|The specified (container|blob) does not exist|HTTP status 404|404 Client Error|Bucket '.*' not found"
    ),
    "store-refused": (
        r"ACCESS_DENIED|ACCESS_KEY_ID|SIGNATURE|_TOKEN\b|TOKEN_|UNRECOGNIZED_CLIENT|EXPIRED|MISSING_AUTH"
        r"|PERMISSION_DENIED|UNAUTHENTICATED|Auth[a-z]+(Failed|Failure|Mismatch|Exception)|NoAuthentication"
        r"|HTTP status 40[13]|40[13] (Client Error|Forbidden|Unauthorized)|GatedRepo|PublicAccessNotPermitted"
    ),
}
"""What the libraries say, by what it means; the first that fits."""

_NO_KEY_SAID = re.compile(r"Failed to get token|OAuth2 access token|Could not find Application Default Credentials")


class Trouble(NamedTuple):
    """Why something of a store cannot be had: the rule, and what is said."""

    rule: str
    message: str

    def refusal(self, name: str) -> Refusal:
        """The same as a refusal."""
        return Refusal.of(self.violation(name))

    def violation(self, name: str) -> Violation:
        """The same as a violation."""
        said = self.message if self.rule == MISSING else f"cannot be read: {self.message}"
        return Violation(self.rule, said, label(name))


class StoreError(OSError):
    """Something of a store cannot be had."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(_CODES.get(trouble.rule, errno.EIO), trouble.message)
        self.trouble = trouble


def placed(name: str) -> Place:
    """Find the store that a URL names.

    Raises:
        Refusal: The URL names no bucket, or what speaks to its store is not there.
        StoreError: The store cannot be reached.
    """
    try:
        return place_of(name)
    except Refusal:
        raise
    except FAILURES as error:  # a bucket of AWS is asked for its region
        bucket = name.partition("://")[2].partition("/")[0]
        raise StoreError(trouble(error, Place(name, name, bucket, bucket, None))) from None


def is_of_store(error: BaseException) -> bool:
    """Tell whether an error that came up while something was decoded is the store's."""
    return _CODE.search(str(error)) is not None


def trouble(error: BaseException, place: Place) -> Trouble:
    """Tell what an error means."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):
        return missing(place)
    if _NO_KEY_SAID.search(text):
        return _told("store-refused", _NO_KEY)
    rule = next((rule for rule, pattern in _SAID.items() if re.search(pattern, text)), "")
    code = _code(text)
    if rule == "path-missing":
        return missing(place)
    if rule == "store-unreachable":
        return _told("store-unreachable", _AWAY)
    if rule == "store-refused":
        return _told("store-refused", f"{_DENIED} ({code})" if code else _DENIED)
    said = f"the store answers {code}" if code else f"the store's library says {scrubbed(str(error))}"
    return _told("store-failed", said)


def _told(rule: str, message: str) -> Trouble:
    return Trouble(rule, message)


def missing(place: Place) -> Trouble:
    """Tell whether it is the object that is not there, or its bucket."""
    try:
        from pyarrow.fs import FileType

        there = place.path == place.bucket or place.system.get_file_info(place.bucket).type != FileType.NotFound
    except Exception:  # noqa: BLE001 - whatever it is, the object is missing
        there = True
    if place.path == place.bucket or not there:
        return _told("path-missing", f"there is no bucket {place.bucket}, or none that these credentials see")
    return _told("path-missing", "there is no such object")


def _code(text: str) -> str:
    found = _CODE.search(text)
    if found is None:
        return ""
    code = found["aws"] or found["google"] or found["azure"] or ""
    return f"{code}, HTTP status {found['status']}" if found["status"] else code


def scrubbed(text: str) -> str:
    """Return the beginning of a text without what may be secret: signed parts of URLs, values of the environment."""
    for name, value in os.environ.items():
        if len(value) > 3 and re.search(r"KEY|SECRET|TOKEN|PASSWORD|SAS", name):
            text = text.replace(value, "…")
    text = re.sub(r"\?\S+", "?…", text)
    text = re.sub(r"//[^/\s@]+@", "//", text)
    return " ".join(text.split())[:300]
