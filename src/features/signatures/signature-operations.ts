import Type from 'typebox';
import { millisecondsPerDay } from '#core/instant.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { secretMask } from '#core/records/login-profile.ts';
import { SignatureChange, StoredSignatureRecord } from '#core/records/signature.ts';
import { type TestedStep, testResult } from '#core/records/test-result.ts';
import { changeOperation, readOperation } from '#features/operation.ts';
import { parseBase64 } from '#features/records/parse-base64.ts';
import type { Ports } from '#ports/ports.ts';
import { CertificateUnusable, type SigningCertificate, TokenUnavailable } from '#ports/signatures.ts';
import { certificateDetails } from './certificate-details.ts';
import { findSigner, type SignPorts, signPdf } from './sign-pdf.ts';
import { findSignature, signatureRecord, storedKey, storeSignature } from './stored-signature.ts';
import { testPage } from './test-page.ts';

const noBody = Type.Object({}, { additionalProperties: false });

export const getSignature = readOperation({
  name: 'signature/get',
  method: 'POST',
  role: 'admin',
  summary: 'Returns the certificate with which the tenant signs PDF files, without its secrets.',
  body: noBody,
  response: StoredSignatureRecord,
  async read(_body, { tid }, { store, signatures }) {
    return { ...signatureRecord(await findSignature(store.read, tid)), tokenKeyIds: [...signatures.tokenKeyIds(tid)] };
  },
});

/** @throws Refusal (400) at `timestampUrl` */
function checkTimestampUrl(text: string): void {
  const url = text === '' ? null : URL.parse(text);
  if (text !== '' && (!url || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== ''))
    throw fieldRefusal('timestampUrl', 'must be an https or http address without a username and password');
}

/** Reads a new certificate. @returns null: the stored one stays @throws Refusal (400); (503) if the PKCS #11 token does not sign */
async function readCertificate(
  { certificate, password, tokenKeyId }: SignatureChange,
  { signatures, clock }: Pick<Ports, 'signatures' | 'clock'>,
  tid: number,
): Promise<SigningCertificate | null> {
  if (certificate === secretMask && password === secretMask) return null;
  if (certificate === secretMask) throw fieldRefusal('certificate', 'must be sent again together with its password');
  const keyId = tokenKeyId?.toLowerCase() || null;
  if (keyId !== null && !signatures.tokenKeyIds(tid).includes(keyId))
    throw fieldRefusal('tokenKeyId', 'must be one of the tokenKeyIds of signature/get');
  if (keyId !== null && password !== '') throw fieldRefusal('password', 'must be empty for a key in a token');
  const bytes = parseBase64('certificate', certificate, keyId === null ? 'a PKCS #12 file' : 'a PEM file');
  try {
    const read = await (keyId === null ? signatures.readPkcs12(bytes, password) : signatures.readTokenCertificate(tid, bytes, keyId));
    if (certificateDetails(read).validTo < clock.now()) throw fieldRefusal('certificate', 'must not have expired');
    return read;
  } catch (cause) {
    if (cause instanceof CertificateUnusable) throw fieldRefusal(cause.field, cause.message);
    if (cause instanceof TokenUnavailable) throw new Refusal('signingUnavailable', cause.message);
    throw cause;
  }
}

export const updateSignature = changeOperation({
  name: 'signature/update',
  method: 'POST',
  role: 'admin',
  summary: 'Stores the certificate with which the tenant signs PDF files, and the address of a time-stamp authority.',
  message: 'signatureUpdated',
  body: SignatureChange,
  computed: ['subject', 'issuer', 'serialNumber', 'validFrom', 'validTo', 'tokenKeyIds'],
  async check(body, { tid }, ports) {
    checkTimestampUrl(body.timestampUrl ?? '');
    return readCertificate(body, ports, tid);
  },
  async change({ timestampUrl, tokenKeyId }, { tid }, tx, { vault }, read: SigningCertificate | null) {
    const before = await findSignature(tx, tid);
    if (!read && before && tokenKeyId !== undefined && (tokenKeyId ?? '').toLowerCase() !== before.tokenKeyId)
      throw fieldRefusal('tokenKeyId', 'can change only together with the certificate');
    const certificate = read ? { chain: read.chain, ...storedKey(vault, read.key) } : before;
    if (!certificate) throw fieldRefusal('certificate', `must be a PKCS #12 or PEM file, not ${secretMask}: no certificate is stored yet`);
    const { chain, sealedKey, tokenKeyId: keyId } = certificate;
    const after = {
      chain,
      sealedKey,
      tokenKeyId: keyId,
      timestampUrl: timestampUrl === undefined ? (before?.timestampUrl ?? '') : (timestampUrl ?? ''),
    };
    await storeSignature(tx, tid, after);
    return { audit: { before: before && signatureRecord(before), after: signatureRecord(after) } };
  },
});

export const deleteSignature = changeOperation({
  name: 'signature/delete',
  method: 'DELETE',
  role: 'admin',
  summary: 'Deletes the certificate with which the tenant signs PDF files. Afterwards, files that must be signed cannot be downloaded.',
  message: 'signatureDeleted',
  body: noBody,
  async change(_body, { tid }, tx) {
    const before = await findSignature(tx, tid);
    if (!before) throw new Refusal('recordUnknown');
    await tx.deleteFrom('signature').where('tid', '=', tid).execute();
    return { audit: { before: signatureRecord(before), after: null } };
  },
});

/** Runs a step. @param run returns the detail of the step; empty: none */
async function runStep(step: string, run: () => Promise<string>): Promise<TestedStep> {
  try {
    return { step, passed: true, detail: await run() };
  } catch (cause) {
    return { step, passed: false, detail: cause instanceof Refusal ? cause.message : 'failed' };
  }
}

/** Signs a page with the stored certificate, and returns the steps up to the first one that fails. */
async function testSteps(ports: SignPorts, tid: number): Promise<TestedStep[]> {
  const { clock } = ports;
  const signWith = async (hasTimeStamp: boolean) => {
    const signer = await findSigner(ports, tid);
    await signPdf(ports, hasTimeStamp ? signer : { ...signer, authority: null }, { tid, group: 'signature/test' }, testPage, 'Test');
    return signer;
  };
  const steps = [
    await runStep('certificate', async () => {
      const { certificate } = await findSigner(ports, tid);
      const days = Math.floor((certificateDetails(certificate).validTo - clock.now()) / millisecondsPerDay);
      return `It is valid for ${days} more days.`;
    }),
  ];
  if (steps[0]?.passed) steps.push(await runStep('sign', () => signWith(false).then(() => '')));
  const stored = await findSignature(ports.store.read, tid);
  if (stored?.timestampUrl && steps.every(({ passed }) => passed))
    steps.push(await runStep('timeStamp', () => signWith(true).then(() => '')));
  return steps;
}

export const testSignature = readOperation({
  name: 'signature/test',
  isTest: true,
  method: 'POST',
  role: 'admin',
  summary: 'Signs a page with the stored certificate, and asks the time-stamp authority, if there is one, for a time stamp.',
  body: noBody,
  response: testResult('certificate, sign, timeStamp (with a time-stamp authority)'),
  async read(_body, caller, ports) {
    const steps = await testSteps(ports, caller.tid);
    return { works: steps.every(({ passed }) => passed), steps };
  },
});
