import { namespaces } from './saml-names.ts';
import { attributeOf, childElementsOf, demand, onlyChild, type StrictElement, withDescendants } from './strict-xml.ts';

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const signatureAlgorithms = [256, 384, 512].map((bits) => `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`);
const digestAlgorithms = [256, 512].map((bits) => `http://www.w3.org/2001/04/xmlenc#sha${bits}`);
const usualTransforms = [`${namespaces.signature}enveloped-signature`, exclusive].join();

const isSignature = ({ namespace, name }: StrictElement) => namespace === namespaces.signature && name === 'Signature';

/** Returns the algorithms of all children that have the given name, joined by commas. */
const algorithmsOf = (element: StrictElement, name: string) =>
  childElementsOf(element, namespaces.signature, name)
    .map((child) => attributeOf(child, 'Algorithm'))
    .join();

/** Returns whether an element has its own signature. */
export const isSigned = (element: StrictElement): boolean => element.children.some(isSignature);

/** Checks that a signature covers its parent and nothing else, with algorithms that are not broken. @throws XmlRefused */
function checkSignature(signature: StrictElement, parent: StrictElement): void {
  const info = onlyChild(signature, namespaces.signature, 'SignedInfo');
  const reference = onlyChild(info, namespaces.signature, 'Reference');
  const id = attributeOf(parent, 'ID');
  const transforms = algorithmsOf(onlyChild(reference, namespaces.signature, 'Transforms'), 'Transform');
  demand(id !== undefined && attributeOf(reference, 'URI') === `#${id}`, 'A signature refers to an element other than its parent.');
  demand(algorithmsOf(info, 'CanonicalizationMethod') === exclusive, 'A signature has a canonicalization other than exclusive.');
  demand(transforms === usualTransforms, 'A signature has unusual transforms.');
  demand(signatureAlgorithms.includes(algorithmsOf(info, 'SignatureMethod')), 'A signature has an algorithm other than RSA with SHA-2.');
  demand(digestAlgorithms.includes(algorithmsOf(reference, 'DigestMethod')), 'A signature has a digest other than SHA-256 or SHA-512.');
  demand(childElementsOf(signature, namespaces.signature, 'Object').length === 0, 'A signature contains an Object.');
}

/**
 * Checks that a response has a signature and no ID twice, and the form of all its signatures. Each must be a child of the response or of
 * an assertion directly in it, so that no signed part can be moved elsewhere. node-saml then verifies the signatures.
 * @throws XmlRefused
 */
export function checkSignatures(response: StrictElement): void {
  const assertions = childElementsOf(response, namespaces.assertion, 'Assertion');
  const parents = [response, ...assertions].filter(isSigned);
  const all = withDescendants(response).filter(isSignature);
  demand(all.length === parents.length, 'A signature is at an unusual place.');
  demand(parents.length > 0, 'Neither the response nor the assertion is signed.');
  for (const parent of parents) checkSignature(onlyChild(parent, namespaces.signature, 'Signature'), parent);
  const ids = withDescendants(response).flatMap((element) => attributeOf(element, 'ID') ?? []);
  demand(new Set(ids).size === ids.length, 'Two elements have the same ID.');
}
