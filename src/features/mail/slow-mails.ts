import { setAndEvict } from '#core/bounded-map.ts';
import { addCount } from '#core/count-by-key.ts';
import { maxSlowMails } from '#ports/mail.ts';

/** ms. A group is slow if its last mail took longer. */
const maxFastTime = 1000;
const maxGroups = 200; // slow groups that are remembered
/**
 * While a group has so many slow mails, it begins no other mail. The limits of a turn and of a host are lower than that of
 * a tenant, so that other mails of the tenant are sent too.
 */
const maxSlowByGroup = { host: 3, domain: 6, turn: 3, tenant: 8 };
const maxFastHosts = 1000; // hosts that are remembered
/** Labels under which many countries register domains, such as `co` in `example.co.uk`. */
const registryLabels: ReadonlySet<string> = new Set('ac co com edu go gob gov gv ltd mil ne net or org plc'.split(' '));

interface GroupLimits {
  /** While a group has so many slow mails, it begins no other mail. */
  readonly maxSlow: number;
  /** How many mails of all slow groups together may be sent at a time, not counting those that count towards `maxSlow`. */
  readonly maxWorkers: number;
}

/** The mails that are being sent, in groups: those of a tenant, of a turn, to a host, or to a domain. */
class MailGroups<Key> {
  readonly #limits: GroupLimits;
  readonly #running = new Map<Key, number>();
  readonly #slowMails = new Map<Key, number>();
  readonly #slowGroups = new Map<Key, true>();

  constructor(limits: GroupLimits) {
    this.#limits = limits;
  }

  countRunning(key: Key, change: 1 | -1): void {
    addCount(this.#running, key, change);
  }

  countSlow(key: Key, change: 1 | -1): void {
    addCount(this.#slowMails, key, change);
  }

  setSlow(key: Key, isSlow: boolean): void {
    if (isSlow) setAndEvict(this.#slowGroups, key, true, maxGroups);
    else this.#slowGroups.delete(key);
  }

  /**
   * Returns the groups whose mails must wait: those with `maxSlow` slow mails, and all slow groups while they use `maxWorkers`.
   */
  findCrowded(): ReadonlySet<Key> {
    const withManySlow = [...this.#slowMails].filter(([, count]) => count >= this.#limits.maxSlow).map(([key]) => key);
    return new Set(this.#workersOfSlow() < this.#limits.maxWorkers ? withManySlow : [...withManySlow, ...this.#slowGroups.keys()]);
  }

  #workersOfSlow(): number {
    let workers = 0;
    for (const [key, count] of this.#running) if (this.#slowGroups.has(key)) workers += count - (this.#slowMails.get(key) ?? 0);
    return workers;
  }
}

/** The turn of a mail within its tenant. */
export interface MailTurn {
  readonly tid: number;
  readonly turn: string;
}

/** The tenants and turns whose mails are not sent at present, because too many of their mails are slow. */
export interface CrowdedMails {
  readonly tenants: ReadonlySet<number>;
  /** By `turnKey`. */
  readonly turns: ReadonlySet<string>;
}

/** A mail that is being sent. */
export interface RunningMail extends MailTurn {
  /** Host of the recipient's address, as `mailHost` returns it; null: not known yet. */
  host: string | null;
}

export const mailHost = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/**
 * Returns the domain of a host, without subdomains: a mail server is usually slow for all of them. The domain of
 * `mail.example.co.uk` has three labels. The rule is right for most hosts, and needs no list of all public suffixes.
 */
export function mailDomain(host: string): string {
  const labels = host.split('.');
  const isInCountry = labels.at(-1)?.length === 2;
  return labels.slice(isInCountry && registryLabels.has(labels.at(-2) ?? '') ? -3 : -2).join('.');
}

export const turnKey = ({ tid, turn }: MailTurn): string => `${tid} ${turn}`;

/**
 * Limits the slow mails of a lane. Slow recipients delay mainly mails of the same turn, and mails to the same host, also those of other
 * tenants. The subdomains of a domain have a common limit, because one server may be slow for all of them. This
 * limit applies neither to the domain itself nor to hosts that were fast.
 */
export class SlowMails {
  readonly #tenants: MailGroups<number>;
  readonly #turns: MailGroups<string>;
  readonly #hosts: MailGroups<string>;
  readonly #domains: MailGroups<string>;
  /** Hosts whose last mail was fast. */
  readonly #fastHosts = new Map<string, true>();
  /** Number of slow mails that are being sent in addition to the usual number. */
  #slow = 0;

  /**
   * @param concurrency the usual number of mails that are sent at a time. Slow tenants leave one worker to others. Slow turns and hosts
   * leave two.
   */
  constructor(concurrency: number) {
    this.#tenants = new MailGroups({ maxSlow: maxSlowByGroup.tenant, maxWorkers: concurrency - 1 });
    this.#turns = new MailGroups({ maxSlow: maxSlowByGroup.turn, maxWorkers: concurrency - 2 });
    this.#hosts = new MailGroups({ maxSlow: maxSlowByGroup.host, maxWorkers: concurrency - 2 });
    this.#domains = new MailGroups({ maxSlow: maxSlowByGroup.domain, maxWorkers: Number.POSITIVE_INFINITY });
  }

  /** Counts a worker that begins to send claimed mails. */
  begin(mail: MailTurn): void {
    this.#tenants.countRunning(mail.tid, 1);
    this.#turns.countRunning(turnKey(mail), 1);
  }

  end(mail: MailTurn): void {
    this.#tenants.countRunning(mail.tid, -1);
    this.#turns.countRunning(turnKey(mail), -1);
  }

  /** Begins a mail to a host. @returns false if it must wait: its host or domain has many slow mails, or slow hosts use many workers */
  beginHost(mail: RunningMail, host: string): boolean {
    if (this.#hosts.findCrowded().has(host) || this.#isDomainCrowded(host)) return false;
    mail.host = host;
    this.#hosts.countRunning(host, 1);
    return true;
  }

  endHost({ host }: RunningMail): void {
    if (host !== null) this.#hosts.countRunning(host, -1);
  }

  /** Records how long a mail has taken, in ms. @returns whether that was unusually long */
  measure(mail: RunningMail, duration: number): boolean {
    const isSlow = duration > maxFastTime;
    this.#setSlow(mail, isSlow);
    return isSlow;
  }

  /** Counts a mail that is slow. @returns false if there are too many */
  beginSlow(mail: RunningMail): boolean {
    this.#setSlow(mail, true);
    if (this.#slow >= maxSlowMails) return false;
    this.#countSlow(mail, 1);
    return true;
  }

  endSlow(mail: RunningMail): void {
    this.#countSlow(mail, -1);
  }

  crowded(): CrowdedMails {
    return { tenants: this.#tenants.findCrowded(), turns: this.#turns.findCrowded() };
  }

  #isDomainCrowded(host: string): boolean {
    const domain = mailDomain(host);
    return domain !== host && !this.#fastHosts.has(host) && this.#domains.findCrowded().has(domain);
  }

  #setSlow(mail: RunningMail, isSlow: boolean): void {
    const { host } = mail;
    if (host !== null) {
      this.#hosts.setSlow(host, isSlow);
      if (isSlow) this.#fastHosts.delete(host);
      else setAndEvict(this.#fastHosts, host, true, maxFastHosts);
    }
    this.#tenants.setSlow(mail.tid, isSlow);
    this.#turns.setSlow(turnKey(mail), isSlow);
  }

  #countSlow(mail: RunningMail, change: 1 | -1): void {
    if (mail.host !== null) {
      this.#hosts.countSlow(mail.host, change);
      this.#domains.countSlow(mailDomain(mail.host), change);
    }
    this.#slow += change;
    this.#tenants.countSlow(mail.tid, change);
    this.#turns.countSlow(turnKey(mail), change);
  }
}
