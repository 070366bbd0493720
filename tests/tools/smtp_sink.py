"""A real SMTP server for the tests: prints its port, then each letter as a line of JSON.

smtp_sink.py MODE [CERT KEY]: `plain`, `starttls` (asked for before any mail), `wrapped` (TLS from the first
byte), `stripped` (offers no TLS at all). A recipient whose address begins with `no` is refused for good, one
that begins with `later` for now.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP


class Sink:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("no"):
            return "550 no such mailbox"
        if address.startswith("later"):
            return "451 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        letter = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None or sys.argv[1] == "wrapped",
            "content": envelope.content.decode("utf-8", "replace"),
        }
        print(json.dumps(letter), flush=True)
        return "250 OK"


async def main():
    mode = sys.argv[1]
    context = None
    if mode in ("starttls", "wrapped"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    starttls = {"tls_context": context, "require_starttls": True} if mode == "starttls" else {}
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(Sink(), hostname="sink", **starttls),
        host="127.0.0.1",
        port=0,
        ssl=context if mode == "wrapped" else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
