import { verify, X509Certificate } from 'node:crypto';
import { namespaces } from './saml-names.ts';
import { elementsIn, refuse } from './strict-xml.ts';
import { canonicalXml, type DomNode } from './xml-libraries.ts';

/** Returns all elements with the given name in the namespace of signatures, in the order of the document. */
function elementsOf(node: DomNode, name: string): DomNode[] {
  const inChildren = elementsIn(node).flatMap((child) => elementsOf(child, name));
  return node.localName === name && node.namespaceURI === namespaces.signature ? [node, ...inChildren] : inChildren;
}

/** Returns the only element with the given name. @throws XmlRefused if there is none, or several */
function onlyElement(node: DomNode, name: string): DomNode {
  const [element, ...others] = elementsOf(node, name);
  return element && others.length === 0 ? element : refuse(`A signature does not have exactly one ${name}.`);
}

/** Returns the hash function of an RSA signature, such as `sha256`. */
function hashOf(signature: DomNode): string {
  const { attributes } = onlyElement(signature, 'SignatureMethod');
  const algorithm = Array.from(attributes ?? []).find(({ name }) => name === 'Algorithm')?.value ?? '';
  return algorithm.slice(algorithm.lastIndexOf('-') + 1);
}

/** Returns whether a signature is valid for its SignedInfo. Does not verify the data that the SignedInfo refers to. */
function isSignedBy(certificate: string, signature: DomNode): boolean {
  const signedInfo = Buffer.from(canonicalXml(onlyElement(signature, 'SignedInfo')));
  const value = Buffer.from(onlyElement(signature, 'SignatureValue').textContent ?? '', 'base64');
  try {
    return verify(hashOf(signature), signedInfo, new X509Certificate(certificate).publicKey, value);
  } catch {
    return false; // the certificate cannot be read, or has another kind of key
  }
}

/**
 * Returns the certificates whose keys have signed a response. Refuses forged responses early, because the complete verification takes a
 * hundred times as long. Call this function after `checkSignatures`.
 * @param certificates in PEM
 * @throws XmlRefused if a signature is malformed, or is by none of them
 */
export function signingCertificates(document: DomNode, certificates: readonly string[]): readonly string[] {
  const signersBySignature = elementsOf(document, 'Signature').map((signature) => certificates.filter((one) => isSignedBy(one, signature)));
  if (signersBySignature.some((signers) => signers.length === 0)) refuse('A signature is not valid for any certificate of the provider.');
  return [...new Set(signersBySignature.flat())];
}
