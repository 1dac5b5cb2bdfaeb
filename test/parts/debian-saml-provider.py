"""A SAML provider built on pysaml2 and xmlsec1 (Debian: python3-pysaml2, xmlsec1). It shares no code with Postern's client.

POST /service-provider           reads the metadata of a service provider (the body); answers 400 if pysaml2 does not accept it
GET  /metadata                   the metadata of this provider
GET  /sso?SAMLRequest&RelayState a page that posts the response of pysaml2 for the user of /next
GET  /next?user=NAME             sets the user who signs in next
GET  /roll-over                  replaces the key
GET  /response?case&request      the response of a case, in base64
GET  /response?name&request      a valid response in base64 with this NameID
GET  /response?session_end&request  a valid response in base64 whose session ends after this number of seconds
GET  /cases                      the names of the cases: right (valid responses), and wrong (responses with one defect)
Arguments: the port, and a folder for keys.
"""
import base64
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_EMAILADDRESS, NameID
from saml2.server import Server

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
ENTITY = f"http://127.0.0.1:{PORT}/metadata"
SIGNATURE = "http://www.w3.org/2000/09/xmldsig#"
ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion"
PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
RSA_SHA256, SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "http://www.w3.org/2001/04/xmlenc#sha256"
USERS = {
    "ann": {"mail": "ann@example.com", "displayName": "Ann Archer", "groups": ["editors", "staff"]},
    "bob": {"mail": "bob@example.com", "displayName": "Bob Baker", "groups": ["staff"]},
}
state = {"next": "ann", "key": "provider", "entity": "", "acs": "", "metadata": "", "server": None, "ids": 0}


def run(*command):
    result = subprocess.run(command, capture_output=True)
    if result.returncode:
        raise RuntimeError(result.stderr.decode())
    return result.stdout.decode()


def make_key(name):
    files = ["-keyout", f"{FOLDER}/{name}.key", "-out", f"{FOLDER}/{name}.pem"]
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", *files)


def configure():
    """Loads pysaml2 with the current key and the metadata of the service provider."""
    settings = {
        "entityid": ENTITY,
        "key_file": f"{FOLDER}/{state['key']}.key",
        "cert_file": f"{FOLDER}/{state['key']}.pem",
        "xmlsec_binary": "/usr/bin/xmlsec1",
        "service": {
            "idp": {
                "endpoints": {"single_sign_on_service": [(f"http://127.0.0.1:{PORT}/sso", BINDING_HTTP_REDIRECT)]},
                "policy": {"default": {"lifetime": {"minutes": 5}, "attribute_restrictions": None, "name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"}},
            }
        },
    }
    if state["metadata"]:
        settings["metadata"] = {"inline": [state["metadata"]]}
    configuration = IdPConfig().load(settings)
    state["own_metadata"] = str(entity_descriptor(configuration))
    state["server"] = Server(config=configuration)


def answer_request(request):
    """Returns the response of pysaml2 to a request of the service provider."""
    server = state["server"]
    parsed = server.parse_authn_request(request, BINDING_HTTP_REDIRECT)
    arguments = server.response_args(parsed.message, bindings=[BINDING_HTTP_POST])
    arguments.pop("name_id_policy", None)
    user = USERS[state["next"]]
    name_id = NameID(format=NAMEID_FORMAT_EMAILADDRESS, text=user["mail"])
    response = server.create_authn_response(
        user, userid=state["next"], name_id=name_id, sign_assertion=True, sign_response=False, sign_alg=RSA_SHA256, digest_alg=SHA256,
        authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport", "authn_auth": ENTITY}, **arguments,
    )
    return str(response)


# The functions below create the responses of /response.


def at(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id(prefix):
    state["ids"] += 1
    return f"_{prefix}{time.time_ns()}{state['ids']}"


def template(algorithm=RSA_SHA256, digest=SHA256, transforms=("enveloped", "exclusive"), canonical=EXCLUSIVE, uri="#@ID@"):
    algorithms = {"enveloped": f"{SIGNATURE}enveloped-signature", "exclusive": EXCLUSIVE, "comments": EXCLUSIVE + "WithComments"}
    steps = "".join(f'<ds:Transform Algorithm="{algorithms[name]}"/>' for name in transforms)
    return (
        f'<ds:Signature xmlns:ds="{SIGNATURE}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="{canonical}"/>'
        f'<ds:SignatureMethod Algorithm="{algorithm}"/><ds:Reference URI="{uri}"><ds:Transforms>{steps}</ds:Transforms>'
        f'<ds:DigestMethod Algorithm="{digest}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo><ds:SignatureValue/>'
        f"<ds:KeyInfo><ds:X509Data/></ds:KeyInfo></ds:Signature>"
    )


def sign(xml, *key):
    """Fills in the empty signature of a document."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml", dir=FOLDER) as file:
        file.write(xml)
        file.flush()
        ids = ["--id-attr:ID", f"{ASSERTION}:Assertion", "--id-attr:ID", f"{PROTOCOL}:Response"]
        signed = run("xmlsec1", "--sign", *key, *ids, file.name)
    return re.sub(r"^<\?xml[^>]*\?>\s*", "", signed).strip()


def private_key(name=None):
    name = name or state["key"]
    return "--privkey-pem", f"{FOLDER}/{name}.key,{FOLDER}/{name}.pem"


def assertion(request, signature="", user="ann", **o):
    ident = o.get("id") or new_id("a")
    mail = o.get("name_xml", f"{user}@example.com")
    name_format = o.get("format", "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress")
    name = "" if o.get("no_name") else f'<saml:NameID Format="{name_format}">{mail}</saml:NameID>'
    in_response_to = f' InResponseTo="{o.get("confirmed", request)}"' if request and not o.get("no_confirmed") else ""
    recipient = "" if o.get("no_recipient") else f' Recipient="{o.get("recipient", state["acs"])}"'
    expiry = "" if o.get("no_confirmed_until") else f' NotOnOrAfter="{at(o.get("confirmed_until", 120))}"'
    confirmation = "" if o.get("no_confirmation") else (
        f'<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:{o.get("method", "bearer")}">'
        f"<saml:SubjectConfirmationData{expiry}{recipient}{in_response_to}/></saml:SubjectConfirmation>"
    )
    audience = f'<saml:Audience>{o.get("audience", state["entity"])}</saml:Audience>'
    restriction = "" if o.get("no_audience") else f"<saml:AudienceRestriction>{audience}</saml:AudienceRestriction>"
    window = f' NotBefore="{at(o.get("not_before", -30))}" NotOnOrAfter="{at(o.get("expiry", 120))}"'
    conditions = "" if o.get("no_conditions") else f'<saml:Conditions{window}>{restriction}{o.get("more_conditions", "")}</saml:Conditions>'
    issuer = "" if o.get("no_issuer") else f'<saml:Issuer>{o.get("issuer", ENTITY)}</saml:Issuer>'
    session = f' SessionNotOnOrAfter="{at(o["session_end"])}"' if "session_end" in o else ""
    groups = "".join(f"<saml:AttributeValue>{group}</saml:AttributeValue>" for group in USERS.get(user, {"groups": []})["groups"])
    statement = "" if o.get("no_statement") else (
        f'<saml:AuthnStatement AuthnInstant="{at(0)}"{session}><saml:AuthnContext><saml:AuthnContextClassRef>'
        "urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>"
    )
    return ident, (
        f'<saml:Assertion xmlns:saml="{ASSERTION}" ID="{ident}" Version="2.0" IssueInstant="{at(o.get("issued", 0))}">{issuer}'
        f'{signature.replace("@ID@", ident)}<saml:Subject>{name}{confirmation}</saml:Subject>{conditions}{statement}'
        f'<saml:AttributeStatement><saml:Attribute Name="groups">{groups}</saml:Attribute>{o.get("more_attributes", "")}'
        "</saml:AttributeStatement></saml:Assertion>"
    )


def envelope(request, body, signature="", **o):
    ident = o.get("id") or new_id("r")
    in_response_to = f' InResponseTo="{o.get("answers", request)}"' if request and not o.get("no_answers") else ""
    destination = "" if o.get("no_destination") else f' Destination="{o.get("destination", state["acs"])}"'
    return (
        f'{o.get("before", "")}<samlp:Response xmlns:samlp="{PROTOCOL}" ID="{ident}" Version="2.0" IssueInstant="{at(0)}"{destination}{in_response_to}>'
        f'<saml:Issuer xmlns:saml="{ASSERTION}">{o.get("envelope_issuer", ENTITY)}</saml:Issuer>{signature.replace("@ID@", ident)}'
        f'<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:{o.get("status", "Success")}"/></samlp:Status>{body}</samlp:Response>'
    )


def respond(request, signs=("assertion",), key=None, signature=None, **o):
    key = key or private_key()
    empty = template(**(signature or {}))
    body = assertion(request, empty if "assertion" in signs else "", **o)[1]
    if "assertion" in signs:
        body = sign(body, *key)
    xml = envelope(request, body, empty if "response" in signs else "", **o)
    return sign(xml, *key) if "response" in signs else xml


def split_signature(xml):
    signature = re.search(r"<ds:Signature .*?</ds:Signature>", xml, re.S).group(0)
    return signature, xml.replace(signature, "")


def wrap(number, request):
    """Signature wrapping, numbered as by Somorovsky et al.: 1 and 2 wrap a signed response, 3 to 8 a signed assertion."""
    forged = lambda inner="", **o: assertion(request, inner, user="admin", **o)[1]
    if number <= 2:
        signature, real = split_signature(respond(request, signs=("response",)))
        inside = signature.replace("</ds:Signature>", f"<ds:Object>{real}</ds:Object></ds:Signature>") if number == 1 else real + signature
        return envelope(request, forged(), inside, id="_forged")
    signed = sign(assertion(request, template())[1], *private_key())
    signature, real = split_signature(signed)
    ident = re.search(r' ID="([^"]+)"', signed).group(1)
    in_object = signature.replace("</ds:Signature>", f"<ds:Object>{real}</ds:Object></ds:Signature>")
    return envelope(request, {
        3: lambda: forged(id="_forged") + signed,
        4: lambda: forged(id="_forged").replace("</saml:Assertion>", signed + "</saml:Assertion>"),
        5: lambda: forged(signature, id="_forged") + real,
        6: lambda: forged(signature.replace("</ds:Signature>", f"{real}</ds:Signature>"), id="_forged"),
        7: lambda: f"<samlp:Extensions>{forged(id=ident)}</samlp:Extensions>{signed}",
        8: lambda: forged(in_object, id=ident),
    }[number]())


def same_id_twice(request):
    signature, real = split_signature(sign(assertion(request, template())[1], *private_key()))
    ident = re.search(r' ID="([^"]+)"', real).group(1)
    return envelope(request, assertion(request, signature, user="admin", id=ident)[1] + real)


def two_references(request):
    signed = sign(assertion(request, template())[1], *private_key())
    reference = re.search(r"<ds:Reference .*?</ds:Reference>", signed, re.S).group(0)
    return envelope(request, signed.replace(reference, reference + reference, 1))


def encrypted(request, is_signed):
    """A response with an EncryptedAssertion. Its content is only encoded, not encrypted: Postern must refuse the element itself."""
    body = assertion(request, template() if is_signed else "")[1]
    body = sign(body, *private_key()) if is_signed else body
    data = (
        '<xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Type="http://www.w3.org/2001/04/xmlenc#Element">'
        '<xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/><xenc:CipherData>'
        f"<xenc:CipherValue>{base64.b64encode(body.encode()).decode()}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>"
    )
    return envelope(request, f'<saml:EncryptedAssertion xmlns:saml="{ASSERTION}">{data}</saml:EncryptedAssertion>')


def entity(name, text):
    return f'<!DOCTYPE x [<!ENTITY {name} "{text}">]>'


def attribute(name, value):
    return f'<saml:Attribute Name="{name}"><saml:AttributeValue>{value}</saml:AttributeValue></saml:Attribute>'


OTHER = "http://other.test"
SHA1 = {"algorithm": f"{SIGNATURE}rsa-sha1", "digest": f"{SIGNATURE}sha1"}
HMAC = {"algorithm": "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"}
right_cases = {
    "signed assertion": respond,
    "both signed": lambda r: respond(r, signs=("assertion", "response")),
    "signed response": lambda r: respond(r, signs=("response",)),
    "no destination": lambda r: respond(r, no_destination=True),
    "one-time use": lambda r: respond(r, more_conditions="<saml:OneTimeUse/>"),
    "an attribute named __proto__": lambda r: respond(r, more_attributes=attribute("__proto__", "<saml:x>1</saml:x>")),
}
wrong_cases = {
    "unsigned": lambda r: respond(r, signs=()),
    "signed by a stranger": lambda r: respond(r, key=private_key("stranger")),
    "both signed by a stranger": lambda r: respond(r, key=private_key("stranger"), signs=("assertion", "response")),
    **{f"signature wrapping {n}": (lambda n: lambda r: wrap(n, r))(n) for n in range(1, 9)},
    "an ID twice": same_id_twice,
    "two references": two_references,
    "changed after signing": lambda r: respond(r).replace("ann@example.com", "adm@example.com"),
    "foreign audience": lambda r: respond(r, audience=f"{OTHER}/sp"),
    "no audience": lambda r: respond(r, no_audience=True),
    "no conditions": lambda r: respond(r, no_conditions=True),
    "foreign recipient": lambda r: respond(r, recipient=f"{OTHER}/acs"),
    "no recipient": lambda r: respond(r, no_recipient=True),
    "foreign destination": lambda r: respond(r, destination=f"{OTHER}/acs"),
    "foreign destination, signed": lambda r: respond(r, signs=("response",), destination=f"{OTHER}/acs"),
    "no destination, signed": lambda r: respond(r, signs=("response",), no_destination=True),
    "foreign issuer": lambda r: respond(r, issuer=f"{OTHER}/idp"),
    "no issuer": lambda r: respond(r, no_issuer=True),
    "foreign issuer of the response": lambda r: respond(r, envelope_issuer=f"{OTHER}/idp"),
    "expired": lambda r: respond(r, expiry=-600, confirmed_until=-600, not_before=-900),
    "expired confirmation": lambda r: respond(r, confirmed_until=-600),
    "confirmation without an end": lambda r: respond(r, no_confirmed_until=True),
    "not valid yet": lambda r: respond(r, not_before=600, expiry=900, confirmed_until=900),
    "issued long ago": lambda r: respond(r, issued=-900),
    "issued in the future": lambda r: respond(r, issued=900),
    "holder of key": lambda r: respond(r, method="holder-of-key"),
    "no confirmation": lambda r: respond(r, no_confirmation=True),
    "nobody has signed in": lambda r: respond(r, no_statement=True),
    "request of another browser": lambda r: respond("_other"),
    "request of another browser inside": lambda r: respond("_other", answers=r),
    "request in the envelope only": lambda r: respond(r, no_confirmed=True),
    "request in the assertion only": lambda r: respond(r, no_answers=True),
    "no request": lambda r: respond(None),
    "failed status beside an assertion": lambda r: respond(r, status="Responder"),
    "refused by the provider": lambda r: envelope(r, "", status="Requester"),
    "comment in the name": lambda r: respond(r, name_xml="admin@example.com<!---->.evil.test"),
    "comment added to the name": lambda r: respond(r, name_xml="admin@example.com.evil.test").replace("admin@example.com.evil", "admin@example.com<!---->.evil"),
    "processing instruction in the name": lambda r: respond(r, name_xml="admin@example.com<?x y?>.evil.test"),
    "element in the name": lambda r: respond(r, name_xml="admin@example.com<b xmlns=''>.evil.test</b>"),
    "CDATA in the name": lambda r: respond(r, name_xml="<![CDATA[ann@example.com]]>"),
    "empty name": lambda r: respond(r, name_xml=" "),
    "attribute nameID instead of a name": lambda r: respond(r, no_name=True, more_attributes=attribute("nameID", "admin@example.com")),
    "transient name": lambda r: respond(r, format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient"),
    "unknown condition": lambda r: respond(r, more_conditions='<saml:Condition xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x:Y" xmlns:x="urn:x"/>'),
    "encrypted and unsigned": lambda r: encrypted(r, False),
    "encrypted": lambda r: encrypted(r, True),
    "SHA-1": lambda r: respond(r, signature=SHA1),
    "SHA-1 digest": lambda r: respond(r, signature={"digest": f"{SIGNATURE}sha1"}),
    "HMAC with the public key": lambda r: respond(r, signature=HMAC, key=("--hmackey", f"{FOLDER}/{state['key']}.pem")),
    "no canonicalization": lambda r: respond(r, signature={"transforms": ("enveloped",)}),
    "canonicalization with comments": lambda r: respond(r, signature={"transforms": ("enveloped", "comments")}),
    "reference to the whole document": lambda r: respond(r, signature={"uri": ""}),
    "DOCTYPE": lambda r: entity("e", "admin") + respond(r),
    "entity in the name": lambda r: entity("e", "admin@example.com") + respond(r).replace(">ann@example.com<", ">&e;<", 1),
    "nested entities": lambda r: '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9)) + "]>" + respond(r).replace(">ann@example.com<", ">&j;<", 1),
    "deep elements": lambda r: respond(r).replace("<samlp:Status>", "<x>" * 20000 + "</x>" * 20000 + "<samlp:Status>"),
    "deep elements, few": lambda r: respond(r).replace("<samlp:Status>", "<x>" * 900 + "</x>" * 900 + "<samlp:Status>"),
    "many XML attributes": lambda r: respond(r).replace("<samlp:Status>", "<x " + " ".join(f'a{n}=""' for n in range(12000)) + "/><samlp:Status>"),
    "many namespaces": lambda r: respond(r, more_attributes="".join(f'<n{n}:x xmlns:n{n}="urn:{n}">' for n in range(900)) + "".join(f"</n{n}:x>" for n in reversed(range(900)))),
    "no XML": lambda r: "hello",
    "an assertion alone": lambda r: sign(assertion(r, template())[1], *private_key()),
    "two roots": lambda r: respond(r) + respond(r, signs=(), user="admin"),
}
parameters = {"name": lambda r, value: respond(r, name_xml=html.escape(value)), "session_end": lambda r, value: respond(r, session_end=int(value))}

PAGE = (
    '<!doctype html><title>Provider</title><form method="post" action="{acs}"><input type="hidden" name="SAMLResponse" value="{response}">'
    '<input type="hidden" name="RelayState" value="{relay_state}"><button>Continue</button></form><script>document.forms[0].submit()</script>'
)


def encode(xml):
    return base64.b64encode(xml.encode()).decode()


def body_for(path, query):
    if path == "/metadata":
        return "application/samlmetadata+xml", state["own_metadata"]
    if path == "/cases":
        return "application/json", json.dumps({"right": list(right_cases), "wrong": list(wrong_cases)})
    if path == "/next":
        state["next"] = query["user"]
        return "text/plain", "ok"
    if path == "/roll-over":
        state["key"] = "second" if state["key"] == "provider" else "provider"
        configure()
        return "text/plain", "ok"
    if path == "/response":
        request = query.get("request") or None
        for name, make in parameters.items():
            if name in query:
                return "text/plain", encode(make(request, query[name]))
        return "text/plain", encode({**right_cases, **wrong_cases}[query["case"]](request))
    if path == "/sso":
        response = encode(answer_request(query["SAMLRequest"]))
        values = {"acs": state["acs"], "response": response, "relay_state": query.get("RelayState", "")}
        return "text/html", PAGE.format(**{name: html.escape(value) for name, value in values.items()})
    return None


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, status, kind, text):
        content = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        url = urlparse(self.path)
        try:
            result = body_for(url.path, {name: values[0] for name, values in parse_qs(url.query).items()})
            self.reply(200, *result) if result else self.reply(404, "text/plain", "")
        except Exception as error:
            self.reply(500, "text/plain", repr(error))

    def do_POST(self):
        try:
            state["metadata"] = self.rfile.read(int(self.headers["content-length"])).decode()
            state["entity"] = re.search(r'entityID="([^"]+)"', state["metadata"]).group(1)
            state["acs"] = re.search(r'AssertionConsumerService[^>]* Location="([^"]+)"', state["metadata"]).group(1)
            configure()
            services = state["server"].metadata.assertion_consumer_service(state["entity"], BINDING_HTTP_POST)
            self.reply(200, "text/plain", services[0]["location"])
        except Exception as error:
            self.reply(400, "text/plain", repr(error))


os.makedirs(FOLDER, exist_ok=True)
for key_name in ("provider", "second", "stranger"):
    make_key(key_name)
configure()
server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print("ready", flush=True)
server.serve_forever()
