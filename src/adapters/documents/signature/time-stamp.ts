import { randomBytes } from 'node:crypto';
import { fromBER, Integer, OctetString } from 'asn1js';
import { AlgorithmIdentifier, type Certificate, MessageImprint, SignedData, TimeStampReq, TimeStampResp, TSTInfo } from 'pkijs';
import type { Outbound } from '#ports/outbound.ts';
import { type TimeStampAuthority, TimeStampUnavailable } from '#ports/signatures.ts';
import { exactBuffer, sha256Of, type TimeStamper } from './cms-signature.ts';

const maxTime = 8000; // ms
const maxResponse = 1 << 16; // bytes
const maxNodes = 2000; // of ASN.1: a token with a chain of certificates has some hundred, and more would take long to parse
const nonceBytes = 8;
const positive = 0x40; // first byte of a nonce, so that the number is positive and never shortened
const sha256Oid = '2.16.840.1.101.3.4.2.1';
const extendedKeyUsageOid = '2.5.29.37';
const timeStampingOid = '1.3.6.1.5.5.7.3.8';

/** Why a time stamp cannot be used, in words for an operator. */
const unavailable = (problem: string, cause?: unknown) => new TimeStampUnavailable(`The time-stamp authority ${problem}.`, { cause });

/** Returns a nonce, and the request to stamp a digest. It asks for the authority's certificate in the response (RFC 3161, 2.4.1). */
function createRequest(digest: Uint8Array): { readonly nonce: Integer; readonly body: Uint8Array } {
  const nonce = new Integer({ valueHex: exactBuffer(Buffer.concat([Buffer.from([positive]), randomBytes(nonceBytes)])) });
  const messageImprint = new MessageImprint({
    hashAlgorithm: new AlgorithmIdentifier({ algorithmId: sha256Oid }),
    hashedMessage: new OctetString({ valueHex: exactBuffer(digest) }),
  });
  const request = new TimeStampReq({ version: 1, messageImprint, nonce, certReq: true });
  return { nonce, body: new Uint8Array(request.toSchema().toBER()) };
}

const mayTimeStamp = ({ extensions = [] }: Certificate) =>
  extensions.some(({ extnID, parsedValue }) => extnID === extendedKeyUsageOid && parsedValue?.keyPurposes?.includes(timeStampingOid));

/**
 * Checks a response: its status, that it stamps these bytes in response to this request, and that the response is signed by a certificate
 * in it, which must be one for time stamps.
 * @returns the token in DER
 * @throws TimeStampUnavailable
 */
async function checkResponse(response: Uint8Array, stamped: Uint8Array, nonce: Integer): Promise<Uint8Array> {
  const { status, timeStampToken } = new TimeStampResp({ schema: fromBER(exactBuffer(response), { maxNodes }).result });
  if (status.status > 1 || !timeStampToken) throw unavailable('has refused the request');
  const signedData = new SignedData({ schema: timeStampToken.content });
  const content = signedData.encapContentInfo.eContent?.getValue();
  if (!content) throw unavailable('has sent a token without content');
  const info = TSTInfo.fromBER(content);
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  const isOwn = hashAlgorithm.algorithmId === sha256Oid && Buffer.from(hashedMessage.valueBlock.valueHexView).equals(sha256Of(stamped));
  if (!isOwn || !info.nonce?.isEqual(nonce)) throw unavailable('has stamped something else');
  const { signatureVerified, signerCertificate } = await signedData.verify({ signer: 0, data: exactBuffer(stamped), extendedMode: true });
  if (!signatureVerified || !signerCertificate) throw unavailable('has sent a token with a wrong signature');
  if (!mayTimeStamp(signerCertificate)) throw unavailable('has signed with a certificate that is not for time stamps');
  return new Uint8Array(timeStampToken.toSchema().toBER());
}

/** Returns a function that gets a time stamp from an authority (RFC 3161) over HTTP. The function throws TimeStampUnavailable. */
export const timeStamper =
  (outbound: Pick<Outbound, 'request'>, { url, tid }: TimeStampAuthority): TimeStamper =>
  async (stamped) => {
    const { nonce, body } = createRequest(sha256Of(stamped));
    try {
      const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
      const signal = AbortSignal.timeout(maxTime);
      const response = await outbound.request(new URL(url), { method: 'POST', headers, body, tid, signal, maxBytes: maxResponse });
      const bytes = await response.read(maxResponse);
      if (response.status !== 200) throw unavailable(`has answered with status ${response.status}`);
      return await checkResponse(bytes, stamped, nonce);
    } catch (cause) {
      if (cause instanceof TimeStampUnavailable) throw cause;
      throw unavailable('does not respond, or its response cannot be read', cause);
    }
  };
