# An SMTP server (Debian's python3-aiosmtpd) that shares no code with Postern. It accepts mails only after STARTTLS and a sign-in.
# Each mail is a line of JSON on stdout.
# Arguments: certificate, key. Prints "ready <port>".
import asyncio
import base64
import json
import signal
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Recorder:
    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "secure": session.ssl is not None,
            "bytes": base64.b64encode(envelope.original_content).decode(),
        }
        print(json.dumps(mail), flush=True)
        return "250 accepted"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b"postern", b"secret"))


async def serve():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[1], sys.argv[2])

    def factory():
        return SMTP(
            Recorder(),
            hostname="debian.test",
            tls_context=context,
            require_starttls=True,
            authenticator=authenticate,
            auth_required=True,
            enable_SMTPUTF8=True,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(factory, "127.0.0.1", 0)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()


asyncio.run(serve())
