import { createRequire } from 'node:module';

// The libraries are loaded without their type declarations, which declare the global names of browsers,
// such as `name` and `event`, for the entire server.
const require = createRequire(import.meta.url);

/** A node of a document (DOM Living Standard, 4.4): the members that Postern reads. */
export interface DomNode {
  readonly nodeType: number;
  readonly namespaceURI: string | null;
  readonly localName?: string;
  readonly textContent: string | null;
  readonly childNodes: ArrayLike<DomNode>;
  readonly parentNode: DomNode | null;
  readonly attributes?: ArrayLike<{ readonly namespaceURI: string | null; readonly name: string; readonly value: string }>;
}

type Report = (problem: string) => never;

interface XmlDom {
  readonly DOMParser: new (options: {
    readonly errorHandler: { readonly warning: Report; readonly error: Report; readonly fatalError: Report };
  }) => { parseFromString(xml: string, type: 'text/xml'): DomNode };
}

/**
 * Parses XML with the parser that node-saml uses to verify signatures, so that Postern and node-saml
 * read the same document.
 * @param report called for each warning or error of the parser; throws
 */
export function parseDocument(xml: string, report: Report): DomNode {
  const { DOMParser }: XmlDom = require('@xmldom/xmldom');
  return new DOMParser({ errorHandler: { warning: report, error: report, fatalError: report } }).parseFromString(xml, 'text/xml');
}

interface XmlCrypto {
  readonly ExclusiveCanonicalization: new () => {
    process(
      element: DomNode,
      options: { readonly ancestorNamespaces: readonly { readonly prefix: string; readonly namespaceURI: string }[] },
    ): string;
  };
}

const declaration = 'xmlns:';

/** Returns the namespaces that the elements around an element declare with a prefix, the innermost first. */
const ancestorNamespaces = ({ parentNode }: DomNode): { prefix: string; namespaceURI: string }[] =>
  parentNode
    ? [
        ...Array.from(parentNode.attributes ?? []).flatMap(({ name, value }) =>
          name.startsWith(declaration) ? [{ prefix: name.slice(declaration.length), namespaceURI: value }] : [],
        ),
        ...ancestorNamespaces(parentNode),
      ]
    : [];

/** Returns the canonical form of an element (Exclusive XML Canonicalization), with the library that node-saml uses. */
export function canonicalXml(element: DomNode): string {
  const { ExclusiveCanonicalization }: XmlCrypto = require('xml-crypto');
  const byPrefix = new Map(
    ancestorNamespaces(element)
      .reverse()
      .map((one) => [one.prefix, one]),
  );
  return new ExclusiveCanonicalization().process(element, { ancestorNamespaces: [...byPrefix.values()] });
}

interface NodeSaml {
  readonly SAML: new (options: {
    readonly callbackUrl: string;
    readonly issuer: string;
    readonly audience: string;
    readonly idpCert: readonly string[];
    readonly acceptedClockSkewMs: number;
    readonly wantAssertionsSigned: boolean;
    readonly wantAuthnResponseSigned: boolean;
  }) => {
    validatePostResponseAsync(container: { readonly SAMLResponse: string }): Promise<{
      readonly profile: { readonly getAssertionXml?: () => string } | null;
    }>;
  };
}

/** A response whose signatures are to be verified, and what it must match. */
export interface ResponseToVerify {
  /** Base64. */
  readonly response: string;
  readonly acsUrl: string;
  readonly entityId: string;
  /** Certificates of the provider in PEM. */
  readonly certificates: readonly string[];
  /** Which elements must be signed. */
  readonly signedElements: { readonly response: boolean; readonly assertion: boolean };
  /** Accepted difference of clocks in ms. */
  readonly clockTolerance: number;
}

/**
 * Verifies the signatures of a response with node-saml.
 * @returns the XML of the signed assertion; empty: the response contains no assertion
 * @throws Error if a signature is missing or wrong, or if another check of node-saml fails
 */
export async function verifySignedAssertion({
  response,
  acsUrl,
  entityId,
  certificates,
  signedElements,
  clockTolerance,
}: ResponseToVerify): Promise<string> {
  const { SAML }: NodeSaml = require('@node-saml/node-saml');
  const saml = new SAML({
    ...{ callbackUrl: acsUrl, issuer: entityId, audience: entityId, idpCert: certificates, acceptedClockSkewMs: clockTolerance },
    ...{ wantAssertionsSigned: signedElements.assertion, wantAuthnResponseSigned: signedElements.response },
  });
  const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
  return profile?.getAssertionXml?.() ?? '';
}
