"""A web server on this machine, and toolkits that may reach it under other names."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from agentscope_like.tool import Toolkit, WebFetch

HERE = "127.0.0.1"


class Site:
    """What the server answers, by host and path, and what it was asked."""

    def __init__(self) -> None:
        self.port = 0
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.resolved: list[str] = []
        self.addresses: dict[str, list[str]] = {}

    def put(
        self,
        place: str,
        body: str | bytes,
        kind: str = "text/html",
        *,
        status: str = "200 OK",
        headers: Sequence[str] = (),
    ) -> str:
        """Answer requests for a place (`docs.test/page`) so; return its address."""
        data = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *headers]
        if kind:
            lines.append(f"Content-Type: {kind}")
        self.pages[place] = "\r\n".join([*lines, "", ""]).encode() + data
        return self.url(place)

    def redirect(self, place: str, location: str, status: str = "302 Found") -> str:
        """Redirect requests for a place; return its address."""
        return self.put(place, "", "", status=status, headers=[f"Location: {location}"])

    def url(self, place: str) -> str:
        """Return the address of a place on this server."""
        host, slash, path = place.partition("/")
        return f"http://{host}:{self.port}{slash}{path}"

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Resolve every host to this machine, unless the test says otherwise."""
        self.resolved.append(host)
        await asyncio.sleep(0)
        return self.addresses.get(host, [HERE])

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.read(65536)).decode(errors="replace")
        if not head.startswith("GET "):
            writer.close()
            return
        path = head.split(" ")[1]
        host = next(line for line in head.split("\r\n") if line.lower().startswith("host:"))
        place = host.split(":")[1].strip() + path
        self.requests.append(place)
        answer = self.pages.get(place, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        writer.write(answer)
        if not answer:
            await reader.read()  # until the client gives up
        writer.close()

    def toolkit(self, *private: str, **options: Any) -> Toolkit:
        """Return a toolkit whose WebFetch may connect to this machine under these names."""
        return Toolkit([WebFetch(private_hosts=private, resolver=self.resolve, **options)])


def certificate(directory: Path, host: str) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate for a host, signed by itself, and the context of its server."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    begins = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = Encoding.PEM
    public = directory / f"{host}.pem"
    public.write_bytes(made.public_bytes(pem))
    private = directory / f"{host}.key"
    private.write_bytes(key.private_bytes(pem, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return public, context


@asynccontextmanager
async def serving(context: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """Serve a site on this machine."""
    site = Site()
    server = await asyncio.start_server(site.answer, HERE, 0, ssl=context)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
