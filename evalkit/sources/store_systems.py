"""From a URL to Arrow's file system for its store, and the path in it.

Credentials are found by the library of each store, where every tool of that store looks for them; what the library
leaves to its caller, an endpoint or an account from the environment, is handed on. Nothing of them is kept here.
"""

from __future__ import annotations

import os
from datetime import timedelta
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from evalkit.errors import Refusal, Violation

_CONNECT_SECONDS = 5
_RETRY = timedelta(seconds=10)
_ATTEMPTS = 3

_LOOKED_AT = ("AWS_", "AZURE_", "GOOGLE_", "CLOUD_STORAGE_", "STORAGE_", "HF_", "HUGGING")
"""How the names of the variables begin that say how a store is reached."""


class Place(NamedTuple):
    """Where something lies.

    Attributes:
        name: The URL as given.
        root: The URL of the bucket, without a slash.
        bucket: The bucket, or what the store calls its like.
        path: The path in the file system, which begins with the bucket.
        system: Arrow's file system.
    """

    name: str
    root: str
    bucket: str
    path: str
    system: Any

    @property
    def key(self) -> str:
        """The path in the bucket."""
        return self.path[len(self.bucket) + 1 :]

    def at(self, path: str) -> Place:
        """Return the place of another path of the file system, in the same bucket."""
        return self._replace(name=f"{self.root}{path[len(self.bucket) :]}", path=path)


def place_of(name: str) -> Place:
    """Find the store that a URL names; nothing is asked of it yet.

    Raises:
        Refusal: The URL names no bucket, or what speaks to its store is not there.
        OSError: The region of a bucket of AWS cannot be found out.
    """
    scheme, _, rest = name.partition("://")
    scheme = scheme.lower()
    bucket, slash, key = rest.partition("/")
    if not bucket or not bucket.isprintable():
        raise Refusal.of(Violation("store-url", f"must name a bucket, as in {scheme}://bucket/name", name))
    if "//" in key:
        raise Refusal.of(Violation("store-url", "has an empty part between two slashes, which is not read", name))
    root = f"{name[: len(scheme)]}://{bucket}"
    environment = tuple(sorted(one for one in os.environ.items() if one[0].startswith(_LOOKED_AT)))
    if scheme in ("az", "abfs", "abfss"):
        bucket, account = _container(bucket, name)
        system = _system("az", account, environment)
    else:
        system = _system(scheme, bucket if scheme == "s3" else "", environment)
    if system is None:
        message = f'{scheme}:// needs huggingface_hub, which is not installed: pip install "evalkit[hf]"'
        raise Refusal.of(Violation("store-extra", message, name))
    return Place(name, root, bucket, f"{bucket}{slash}{key}".rstrip("/") if key else bucket, system)


def _container(authority: str, name: str) -> tuple[str, str]:
    """Return the container and the account of Azure, which the URL names or the environment."""
    container, _, host = authority.partition("@")
    account = host.partition(".")[0]
    account = account or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME") or os.environ.get("AZURE_STORAGE_ACCOUNT") or ""
    if not account or not container:
        message = (
            "names no account; set AZURE_STORAGE_ACCOUNT_NAME, or name abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/…"
        )
        raise Refusal.of(Violation("store-url", message, name))
    return container, account


@lru_cache(maxsize=16)
def _system(scheme: str, which: str, environment: tuple[tuple[str, str], ...]) -> Any:
    """Return the file system of a store, the same as long as the environment says the same; None without its extra."""
    given = dict(environment)
    if scheme == "s3":
        return _s3(which, given)
    if scheme == "gs":
        from pyarrow.fs import GcsFileSystem

        emulated = _endpoint(given.get("STORAGE_EMULATOR_HOST"))  # an emulator knows no credentials
        return GcsFileSystem(anonymous=bool(emulated), retry_time_limit=_RETRY, **emulated)
    if scheme == "az":
        return _azure(which, given)
    if find_spec("huggingface_hub") is None:
        return None
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    return PyFileSystem(FSSpecHandler(import_module("huggingface_hub").HfFileSystem()))


def _s3(bucket: str, given: dict[str, str]) -> Any:
    """Return the file system of S3 or of what speaks like it; without an endpoint the bucket tells its region."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    endpoint = given.get("AWS_ENDPOINT_URL_S3") or given.get("AWS_ENDPOINT_URL")
    region = given.get("AWS_REGION") or given.get("AWS_DEFAULT_REGION")
    if not endpoint:
        region = resolve_s3_region(bucket)
    return S3FileSystem(
        endpoint_override=endpoint or None,
        region=region or ("us-east-1" if endpoint else None),
        connect_timeout=_CONNECT_SECONDS,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        allow_delayed_open=True,  # what is small is put in one request
        background_writes=False,
    )


def _azure(account: str, given: dict[str, str]) -> Any:
    from pyarrow.fs import AzureFileSystem

    key = given.get("AZURE_STORAGE_ACCOUNT_KEY") or given.get("AZURE_STORAGE_KEY")
    token = None if key else given.get("AZURE_STORAGE_SAS_TOKEN")
    options: dict[str, Any] = {}
    for kind, found in _endpoint(given.get("AZURE_STORAGE_ENDPOINT")).items():
        what = "authority" if kind == "endpoint_override" else kind
        options |= {f"blob_storage_{what}": found, f"dfs_storage_{what}": found}
    return AzureFileSystem(account, account_key=key, sas_token=token, **options)


def _endpoint(url: str | None) -> dict[str, str]:
    """Return the scheme and the authority of an endpoint, which may be written without a scheme."""
    if not url:
        return {}
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return {"endpoint_override": parts.netloc, "scheme": parts.scheme}
