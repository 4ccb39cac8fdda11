"""What the libraries of stores were seen to report, and what is said of it: no network is needed to tell that again."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.sources.store_faults import scrubbed, trouble
from evalkit.sources.store_systems import Place

DENIED = "the store refuses access; check which credentials are found, and that they may read and list here"
AWAY = "the store cannot be reached; check the network and the endpoint"
NO_KEY = "no credentials were found that the store takes"
NO_BUCKET = "there is no bucket b, or none that these credentials see"

SEEN = [
    # Arrow 26, S3: moto 5.2, and a machine without a network
    (
        "key 'a' in bucket 'b': AWS Error ACCESS_DENIED during HeadObject operation: No response body.",
        "store-refused",
        f"{DENIED} (ACCESS_DENIED)",
    ),
    (
        "AWS Error INVALID_ACCESS_KEY_ID during ListObjectsV2 operation: The AWS Access Key Id",
        "store-refused",
        f"{DENIED} (INVALID_ACCESS_KEY_ID)",
    ),
    (
        "AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation: The specified bucket does not exist",
        "path-missing",
        NO_BUCKET,
    ),
    (
        "AWS Error NETWORK_CONNECTION during HeadBucket operation: curlCode: 6, Could not resolve hostname",
        "store-unreachable",
        AWAY,
    ),
    (
        "AWS Error UNKNOWN (HTTP status 500) during HeadObject operation: No response body.",
        "store-failed",
        "the store answers UNKNOWN, HTTP status 500",
    ),
    (
        "AWS Error UNKNOWN (HTTP status 403) during HeadObject operation: No response body.",
        "store-refused",
        f"{DENIED} (UNKNOWN, HTTP status 403)",
    ),
    ("Bucket 'b' not found", "path-missing", NO_BUCKET),
    # Google
    (
        "google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token",
        "store-refused",
        NO_KEY,
    ),
    (
        "google::cloud::Status(PERMISSION_DENIED: Caller does not have storage.objects.get access)",
        "store-refused",
        f"{DENIED} (PERMISSION_DENIED)",
    ),
    # Azure: Azurite 3.37
    (
        "Azure Error: [] Fail to get a new connection for: https://acct.blob.core.windows.net.",
        "store-unreachable",
        AWAY,
    ),
    (
        "Azure Error: [AuthorizationFailure] 403 Server failed to authenticate the request.",
        "store-refused",
        f"{DENIED} (AuthorizationFailure)",
    ),
    ("Failed to get token from DefaultAzureCredential.", "store-refused", NO_KEY),
    ("Azure Error: [ContainerNotFound] 404 The specified container does not exist.", "path-missing", NO_BUCKET),
    # what none of the above says
    (
        "Something else, at https://u:p@h/x?sig=abc",
        "store-failed",
        "the store's library says Something else, at https://h/x?…",
    ),
]


@pytest.mark.parametrize(("said", "rule", "message"), SEEN, ids=[f"{one[1]} {one[0][:40]}" for one in SEEN])
def test_what_a_library_says_is_told_in_words(said: str, rule: str, message: str) -> None:
    """Each report becomes one rule, and words that hold nothing of the request."""
    nowhere: Any = None
    assert trouble(OSError(said), Place("s3://b", "s3://b", "b", "b", nowhere)) == (rule, message)


def test_secrets_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of variables that hold keys are not told, nor what signs a URL, nor a user in it; and long texts end."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    assert scrubbed("with very-secret at http://me:you@host/a?sig=1 and more") == "with … at http://host/a?… and more"
    assert len(scrubbed("x" * 1000)) == 300
