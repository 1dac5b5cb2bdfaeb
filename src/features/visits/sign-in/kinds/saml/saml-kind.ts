import { networksOf, wideNetworkOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import type { SamlConfiguration } from '#core/records/saml-configuration.ts';
import { identityOfStatement } from '#core/saml/identity-of-statement.ts';
import { serviceProvider } from '#core/saml/service-provider.ts';
import { providerErrorAsRefusal, providerRefusal, throwAsRefusal } from '#features/provider-sign-ins/provider-refusal.ts';
import { type Turns, turns } from '#features/turns/turns.ts';
import { readProviderConfiguration, unlessOutdated } from '#features/visits/sign-in/provider-profile.ts';
import type { Ports } from '#ports/ports.ts';
import { ProviderRefused, ResponseRefused } from '#ports/provider-errors.ts';
import type { SamlStatement } from '#ports/saml.ts';
import type { BrowserReturn, CompletedSignIn, ProfileRef, RedirectSignIn, SignInKind, SingleUseSignIn } from '#ports/sign-in.ts';
import type { Tx } from '#ports/store.ts';
import { markParkedStatementUsed, markStatementUsed, parkStatement, readParkedStatement, statementKey } from './used-statements.ts';

type KindPorts = Pick<Ports, 'store' | 'clock' | 'vault' | 'random' | 'saml'>;

const parkedPurpose = 'reference to a parked SAML statement';
const relayStateBits = 256; // 43 characters: the standard allows 80 bytes
const concurrency = 100; // responses that the SAML reader gets at a time. The reader itself also lets tenants and networks take turns
const concurrencyOfGroup = { level: 1, max: 1 }; // of a wide network
const maxWaiting = { inner: 20, all: 200 };
const retryAfter = 2; // seconds

/** What the browser keeps until it comes back. */
interface PendingSaml {
  readonly requestId: string;
}

/** What the parameter `parked` refers to: a stored statement, or why there is none. */
type Parked = { readonly key: string } | { readonly refusal: string };

/** SAML: sign-in at a SAML provider, from which the browser comes back with a signed assertion. */
class SamlSignIn implements RedirectSignIn {
  readonly protocol = 'saml';
  readonly #ports: KindPorts;
  /** Admits one response of each wide network at a time to the reader: anybody can send a response that takes long to read. */
  readonly #turns: Turns = turns({
    ...{ concurrency, concurrencyOfGroup, maxWaiting },
    refusal: () => new Refusal('signInBusy', undefined, { retryAfter }),
  });

  constructor(ports: KindPorts) {
    this.#ports = ports;
  }

  async begin(profile: ProfileRef, redirectUrl: string) {
    const state = this.#ports.random.token(relayStateBits);
    const configuration = await this.#configurationOf(profile);
    const { url, requestId } = await this.#ports.saml
      .begin(configuration, profile.tid, serviceProvider(redirectUrl), state)
      .catch(throwAsRefusal);
    const pending: PendingSaml = { requestId };
    return { url, state, pending: JSON.stringify(pending) };
  }

  async finish(profile: ProfileRef, response: BrowserReturn, pending: string | null): Promise<SingleUseSignIn | Refusal> {
    const configuration = await this.#configurationOf(profile);
    try {
      const { statement, markUsed } = await this.#statementOf(profile, configuration, response);
      this.#checkRequest(configuration, statement, pending);
      response.onStatement?.({ NameID: statement.nameId, ...statement.attributes });
      return { ...this.#completed(profile, configuration, statement), markStatementUsed: markUsed };
    } catch (cause) {
      const refusal = providerErrorAsRefusal(cause);
      if (cause instanceof ResponseRefused && refusal instanceof Refusal) return refusal;
      throw refusal;
    }
  }

  async park(profile: ProfileRef, response: BrowserReturn): Promise<string> {
    const seal = (parked: Parked) => this.#ports.vault.seal(parkedPurpose, JSON.stringify(parked));
    try {
      const statement = await this.#read(profile, await this.#configurationOf(profile), response);
      const isFirst = await parkStatement(this.#ports, profile, statement, response.address);
      return seal(isFirst ? { key: statementKey(statement) } : { refusal: 'The response of the provider was used before.' });
    } catch (cause) {
      if (cause instanceof ProviderRefused) return seal({ refusal: cause.message });
      throw providerErrorAsRefusal(cause);
    }
  }

  async mayBeginAtProvider(profile: ProfileRef): Promise<boolean> {
    return (await this.#configurationOf(profile)).idpInitiated === true;
  }

  async #configurationOf(profile: ProfileRef): Promise<SamlConfiguration> {
    return JSON.parse(await readProviderConfiguration(this.#ports, profile, 'SAML'));
  }

  #read(
    { tid }: ProfileRef,
    configuration: SamlConfiguration,
    { redirectUrl, parameters, address }: BrowserReturn,
  ): Promise<SamlStatement> {
    const response = parameters.get('SAMLResponse');
    if (!response) throw new Refusal('requestMalformed', 'The body must be a form with SAMLResponse.');
    const inTurn = <T>(work: () => Promise<T>) => this.#turns.run([`tenant ${tid}`, ...networksOf(address)], null, work);
    const reading = { tid, network: wideNetworkOf(address), inTurn };
    return this.#ports.saml.read(configuration, reading, serviceProvider(redirectUrl), response);
  }

  /** Returns the statement that a browser brings now or brought in an earlier request, and a function that marks it as used. */
  async #statementOf(
    profile: ProfileRef,
    configuration: SamlConfiguration,
    response: BrowserReturn,
  ): Promise<{ readonly statement: SamlStatement; readonly markUsed: (tx: Tx) => Promise<boolean> }> {
    const reference = response.parameters.get('parked');
    if (reference === null) {
      const statement = await this.#read(profile, configuration, response);
      return { statement, markUsed: (tx) => markStatementUsed(tx, profile, statement) };
    }
    const parked = this.#openReference(reference);
    if ('refusal' in parked) throw providerRefusal(parked.refusal);
    const statement = await readParkedStatement(this.#ports, profile, parked.key);
    if (!statement) throw providerRefusal('The response of the provider was used before, or is too old.');
    return { statement, markUsed: (tx) => markParkedStatementUsed(tx, profile, parked.key) };
  }

  #openReference(reference: string): Parked {
    try {
      return JSON.parse(this.#ports.vault.open(parkedPurpose, reference));
    } catch {
      throw new Refusal('requestMalformed', 'This sign-in is not known. Open the link and sign in again.');
    }
  }

  /**
   * Checks which request a statement answers.
   * @throws ResponseRefused if it does not answer the request of this browser. If this browser has sent none, the statement must answer
   *   none, and the profile must allow sign-ins that begin at the provider
   */
  #checkRequest({ idpInitiated }: SamlConfiguration, { inResponseTo }: SamlStatement, pending: string | null): void {
    if (pending === null) {
      if (inResponseTo !== null) throw new ResponseRefused('The assertion answers a request of another browser, or one that has expired.');
      if (idpInitiated !== true) throw new ResponseRefused('The sign-in began at the provider, which this profile does not allow.');
      return;
    }
    const { requestId }: PendingSaml = JSON.parse(pending);
    if (inResponseTo !== requestId) throw new ResponseRefused('The assertion does not answer the request of this browser (InResponseTo).');
  }

  #completed(profile: ProfileRef, configuration: SamlConfiguration, statement: SamlStatement): CompletedSignIn {
    const identity = identityOfStatement(statement, configuration);
    return {
      ...{ identity, claimsAt: this.#ports.clock.now(), profileEpoch: profile.session_epoch, user: null },
      ...(statement.sessionEnd === null ? {} : { endsAt: statement.sessionEnd }),
    };
  }
}

/** Returns the kind of sign-in at a SAML provider. */
export const samlKind = (ports: KindPorts): SignInKind => ({
  redirect: new SamlSignIn(ports),
  reauthenticate: async (_profile, signIn) => unlessOutdated(signIn, ports.clock.now()),
});
