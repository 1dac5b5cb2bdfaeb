import type { SamlStatement } from '#ports/saml.ts';
import { checkSignatures, isSigned } from './check-signatures.ts';
import { namespaces } from './saml-names.ts';
import { signingCertificates } from './signing-certificates.ts';
import {
  attributeOf,
  childElementsOf,
  demand,
  elementText,
  elementTime,
  onlyChild,
  parseStrictly,
  parseXml,
  refuse,
  rootOf,
  type StrictElement,
  withDescendants,
} from './strict-xml.ts';
import { verifySignedAssertion } from './xml-libraries.ts';

/** A response, and the values that it must match. */
export interface ResponseInput {
  /** Base64, as the browser sends it. */
  readonly response: string;
  /** Entity ID of the provider. */
  readonly issuer: string;
  /** Certificates of the provider in PEM. */
  readonly certificates: readonly string[];
  /** Our own entity ID, and the address to which the response is sent. */
  readonly entityId: string;
  readonly acsUrl: string;
  /** ms since the epoch. */
  readonly now: number;
}

const maxResponse = 262_144; // characters
const responseLimits = { elements: 2000, attributes: 4000, namespaces: 1200 };
const clockTolerance = 60_000; // ms
const maxAge = 600_000; // ms
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const knownConditions = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];

/** Returns whether a time is within `NotBefore` and `NotOnOrAfter` of an element, with a tolerance of `clockTolerance`. */
function isInTime(element: StrictElement, now: number): boolean {
  const [from, until] = [elementTime(element, 'NotBefore'), elementTime(element, 'NotOnOrAfter')];
  return (from === null || now >= from - clockTolerance) && (until === null || now < until + clockTolerance);
}

/** Returns the status codes of a response, for the operator. */
const statusCodes = (status: StrictElement) =>
  withDescendants(status)
    .flatMap((element) => attributeOf(element, 'Value') ?? [])
    .map((value) => value.slice(value.lastIndexOf(':') + 1, 100))
    .join(', ');

/**
 * Checks the response element around an assertion. The element may be unsigned, so its values can only cause a refusal; none is returned.
 * @throws XmlRefused
 */
function checkEnvelope(response: StrictElement, { issuer, acsUrl }: ResponseInput): void {
  demand(response.namespace === namespaces.protocol && response.name === 'Response', 'The XML is not a SAML response.');
  demand(attributeOf(response, 'Version') === '2.0', 'The response is not a SAML 2.0 response.');
  const status = onlyChild(response, namespaces.protocol, 'Status');
  const code = attributeOf(onlyChild(status, namespaces.protocol, 'StatusCode'), 'Value');
  demand(code === success, `The provider did not sign the user in: ${statusCodes(status)}.`);
  const destination = attributeOf(response, 'Destination');
  demand(
    destination === acsUrl || (destination === null && !isSigned(response)),
    `The response has a Destination other than ${acsUrl}, or is signed and has no Destination.`,
  );
  const issuers = childElementsOf(response, namespaces.assertion, 'Issuer').map(elementText);
  demand(
    issuers.every((one) => one === issuer),
    `The response is from ${issuers.join()}, not from ${issuer}.`,
  );
  const all = withDescendants(response);
  demand(!all.some(({ name }) => name === 'EncryptedAssertion'), 'The assertion is encrypted. Turn encryption off: TLS protects it.');
  demand(all.filter(({ name }) => name === 'Assertion').length === 1, 'The response does not have exactly one assertion.');
}

/** Returns the data of a confirmation; null unless it is a bearer confirmation, for acsUrl, and valid now (SAML Profiles, 4.1.4.3). */
function confirmationData(confirmation: StrictElement, { acsUrl, now }: ResponseInput): StrictElement | null {
  if (attributeOf(confirmation, 'Method') !== bearer) return null;
  const data = onlyChild(confirmation, namespaces.assertion, 'SubjectConfirmationData');
  const isForUs = attributeOf(data, 'Recipient') === acsUrl && elementTime(data, 'NotOnOrAfter') !== null;
  return isForUs && isInTime(data, now) ? data : null;
}

function checkConditions(conditions: StrictElement, { entityId, now }: ResponseInput): void {
  demand(isInTime(conditions, now), 'The assertion is not valid now. Compare the clocks of the provider and of this machine.');
  const unknown = conditions.children.find(({ name }) => !knownConditions.includes(name));
  demand(unknown === undefined, `The assertion has an unknown condition: ${unknown?.name}.`);
  const audiences = childElementsOf(conditions, namespaces.assertion, 'AudienceRestriction').map((restriction) =>
    childElementsOf(restriction, namespaces.assertion, 'Audience').map(elementText),
  );
  const isForUs = audiences.length > 0 && audiences.every((listed) => listed.includes(entityId));
  demand(isForUs, `The assertion is for ${audiences.flat().join(', ') || 'nobody'}, not for ${entityId}.`);
}

/** Returns the attributes of an assertion. A value with elements in it is left out. */
function attributesOf(assertion: StrictElement): Readonly<Record<string, readonly string[]>> {
  const values = new Map<string, string[]>();
  for (const statement of childElementsOf(assertion, namespaces.assertion, 'AttributeStatement'))
    for (const attribute of childElementsOf(statement, namespaces.assertion, 'Attribute')) {
      const name = attributeOf(attribute, 'Name') ?? refuse('An attribute has no name.');
      const texts = childElementsOf(attribute, namespaces.assertion, 'AttributeValue').flatMap(({ text }) => text ?? []);
      values.set(name, [...(values.get(name) ?? []), ...texts]);
    }
  return Object.fromEntries(values);
}

/** Returns when the session must end, or null. @throws XmlRefused if the assertion does not state a sign-in, or a time is malformed */
function sessionEndOf(assertion: StrictElement): number | null {
  const statements = childElementsOf(assertion, namespaces.assertion, 'AuthnStatement');
  demand(statements.length > 0, 'The assertion does not state that the user has signed in.');
  const ends = statements.flatMap((statement) => elementTime(statement, 'SessionNotOnOrAfter') ?? []);
  return ends.length === 0 ? null : Math.min(...ends);
}

function readAssertion(assertion: StrictElement, input: ResponseInput): SamlStatement {
  const isAssertion = assertion.namespace === namespaces.assertion && assertion.name === 'Assertion';
  demand(isAssertion && attributeOf(assertion, 'Version') === '2.0', 'The signed element is not a SAML 2.0 assertion.');
  const issuer = elementText(onlyChild(assertion, namespaces.assertion, 'Issuer'));
  demand(issuer === input.issuer, `The assertion is from ${issuer}, not from ${input.issuer}.`);
  const issuedAt = elementTime(assertion, 'IssueInstant') ?? refuse('The assertion has no IssueInstant.');
  demand(issuedAt <= input.now + clockTolerance && input.now < issuedAt + maxAge, 'The assertion is too old, or from the future.');
  checkConditions(onlyChild(assertion, namespaces.assertion, 'Conditions'), input);
  const subject = onlyChild(assertion, namespaces.assertion, 'Subject');
  const confirmations = childElementsOf(subject, namespaces.assertion, 'SubjectConfirmation');
  const [data] = confirmations.flatMap((confirmation) => confirmationData(confirmation, input) ?? []);
  if (!data) return refuse(`The assertion is not confirmed for ${input.acsUrl} at this time.`);
  const nameId = onlyChild(subject, namespaces.assertion, 'NameID');
  const name = elementText(nameId);
  demand(name !== '' && name.length <= 255, 'The NameID is empty or too long.');
  return {
    id: attributeOf(assertion, 'ID') ?? refuse('The assertion has no ID.'),
    usedUntil: issuedAt + maxAge + clockTolerance,
    issuer,
    nameId: name,
    nameIdFormat: attributeOf(nameId, 'Format') ?? '',
    attributes: attributesOf(assertion),
    inResponseTo: attributeOf(data, 'InResponseTo'),
    sessionEnd: sessionEndOf(assertion),
  };
}

function decode(response: string): string {
  const isShort = response.length <= maxResponse;
  const base64 = isShort ? response.replace(/\s/g, '') : ''; // takes time proportional to the length
  demand(/^[A-Za-z0-9+/]+={0,2}$/.test(base64), 'The response is not base64, or is too long.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return refuse('The response is not UTF-8.');
  }
}

/**
 * Verifies and reads a response (SAML Profiles, 4.1.4). The result contains only signed data: node-saml returns the signed assertion.
 * node-saml does not check the issuer, the recipient, the destination and more, so this module checks them. Must run in a thread with a
 * time limit.
 * @throws XmlRefused, or an Error of node-saml
 */
export async function readResponse(input: ResponseInput): Promise<SamlStatement> {
  const { response, acsUrl, entityId, certificates } = input;
  const document = parseStrictly(decode(response), responseLimits);
  const envelope = rootOf(document);
  checkEnvelope(envelope, input);
  checkSignatures(envelope);
  const signedElements = { response: isSigned(envelope), assertion: isSigned(onlyChild(envelope, namespaces.assertion, 'Assertion')) };
  const signers = signingCertificates(document, certificates);
  const assertion = await verifySignedAssertion({ response, acsUrl, entityId, certificates: signers, signedElements, clockTolerance });
  const statement = readAssertion(parseXml(assertion || refuse('Nothing is signed.'), responseLimits), input);
  demand(attributeOf(envelope, 'InResponseTo') === statement.inResponseTo, 'The response and its assertion answer different requests.');
  return statement;
}
