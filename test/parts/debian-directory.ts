import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Attribute, Change, Client } from 'ldapts';
import { until } from '../ports/until.ts';
import { temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';
import { createCertificate } from './certificate.ts';
import { endProcess } from './end-process.ts';
import { freePort } from './free-port.ts';

const [slapd, slapadd] = ['/usr/sbin/slapd', '/usr/sbin/slapadd'];

/** Returns the missing programs of the directory, or an empty string. */
export const missingForDirectory = (): string => [slapd, '/usr/bin/openssl'].filter((file) => !existsSync(file)).join(', ');

/**
 * An OpenLDAP directory (Debian's slapd) with memberOf, LDAPS and StartTLS. Each user `x` has the password `x-secret`, but `we*rd(x)` has
 * `weird-secret`.
 */
export interface Directory {
  readonly plainUrl: string;
  readonly tlsUrl: string;
  /** Certificate in PEM. */
  readonly ca: string;
  /** Configuration of a login profile. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Stops the directory from responding until `resume` is called. */
  pause(): void;
  resume(): void;
  rename(dn: string, newRdn: string): Promise<void>;
  remove(dn: string): Promise<void>;
  /** Replaces the values of an attribute. */
  replace(dn: string, attribute: string, values: string[]): Promise<void>;
  add(dn: string, attributes: Record<string, string | string[]>): Promise<void>;
}

const settingsOf = (folder: string, certFile: string, keyFile: string) => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload refint
TLSCACertificateFile ${certFile}
TLSCertificateFile ${certFile}
TLSCertificateKeyFile ${keyFile}
sizelimit 2000
database mdb
suffix dc=test
rootdn cn=root,dc=test
rootpw root-secret
directory ${folder}/db
maxsize 67108864
dbnosync
index objectClass eq
index uid,mail,member,memberOf eq
overlay memberof
overlay refint
refint_attributes member memberOf
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,dc=test" read by self read by * none
`;

const person = (uid: string, cn: string, mail: string) => `
dn: uid=${uid},ou=people,dc=test
objectClass: inetOrgPerson
uid: ${uid}
cn: ${cn}
sn: ${cn}
mail: ${mail}
userPassword: ${uid}-secret
`;

const entries = `dn: dc=test
objectClass: dcObject
objectClass: organization
dc: test
o: Test

dn: cn=reader,dc=test
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: reader-secret

dn: ou=people,dc=test
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=test
objectClass: organizationalUnit
ou: groups
${person('ann', 'Ann Archer', 'ann@example.com')}${person('bob', 'Bob Baker', 'bob@example.com')}
dn: cn=Weird \\2C \\22Name\\22 (x)*,ou=people,dc=test
objectClass: inetOrgPerson
uid: we*rd(x)
cn: Weird , "Name" (x)*
sn: Weird
userPassword: weird-secret

dn: uid=twin,ou=people,dc=test
objectClass: inetOrgPerson
uid: twin
cn: Twin One
sn: Twin
userPassword: twin-secret

dn: cn=Twin Two,ou=people,dc=test
objectClass: inetOrgPerson
uid: twin
cn: Twin Two
sn: Twin
userPassword: twin-secret

dn: ou=elsewhere,dc=test
objectClass: referral
objectClass: extensibleObject
ou: elsewhere
ref: ldap://127.0.0.1:1/ou=elsewhere,dc=test

dn: uid=alias,ou=people,dc=test
objectClass: alias
objectClass: extensibleObject
uid: alias
aliasedObjectName: uid=ann,ou=people,dc=test
`;

const ann = 'uid=ann,ou=people,dc=test';
const groups: Readonly<Record<string, readonly string[]>> = {
  editors: [ann],
  all: ['uid=bob,ou=people,dc=test'],
  staff: ['cn=editors,ou=groups,dc=test', 'cn=all,ou=groups,dc=test'],
};

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGCONT');
  await endProcess(child, 'SIGTERM');
}

/** Runs changes as the administrator. */
async function asRoot<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ url });
  try {
    await client.bind('cn=root,dc=test', 'root-secret');
    return await use(client);
  } finally {
    await client.unbind().catch(() => {});
  }
}

/** Starts a directory for one test. */
export async function startDirectory(t: TestContext): Promise<Directory> {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'db'));
  const { cert, certFile, keyFile } = createCertificate(folder);
  const [conf, ldif] = [join(folder, 'slapd.conf'), join(folder, 'entries.ldif')];
  await writeFile(conf, settingsOf(folder, certFile, keyFile));
  await writeFile(ldif, entries);
  const { status, stderr } = spawnSync(slapadd, ['-q', '-f', conf, '-l', ldif], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`slapadd failed: ${stderr}`);
  const [plainUrl, tlsUrl] = [`ldap://127.0.0.1:${await freePort()}`, `ldaps://127.0.0.1:${await freePort()}`];
  const child = spawn(slapd, ['-d', '0', '-f', conf, '-h', `${plainUrl}/ ${tlsUrl}/`], { stdio: 'ignore' });
  atEnd(t, () => stop(child));
  await until(() => asRoot(plainUrl, async () => true).catch(() => false));
  await asRoot(plainUrl, async (client) => {
    // Adds the groups over LDAP: slapadd runs no overlays, and memberOf would stay empty.
    for (const [cn, member] of Object.entries(groups))
      await client.add(`cn=${cn},ou=groups,dc=test`, { objectClass: 'groupOfNames', cn, member: [...member] });
  });
  return {
    ...{ plainUrl, tlsUrl, ca: cert },
    configuration: {
      ...{ url: tlsUrl, ca: cert, baseDn: 'dc=test', bindDn: 'cn=reader,dc=test', bindPassword: 'reader-secret' },
      ...{ userFilter: '(uid={username})', emailAttribute: 'mail' },
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    rename: (dn, newRdn) => asRoot(plainUrl, (client) => client.modifyDN(dn, newRdn)),
    remove: (dn) => asRoot(plainUrl, (client) => client.del(dn)),
    replace: (dn, type, values) =>
      asRoot(plainUrl, (client) => client.modify(dn, new Change({ operation: 'replace', modification: new Attribute({ type, values }) }))),
    add: (dn, attributes) => asRoot(plainUrl, (client) => client.add(dn, attributes)),
  };
}
