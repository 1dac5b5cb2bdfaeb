import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { VerifyPassword } from '#ports/password-hash.ts';
import { cookieOf, newShare, startPostern, type TestPostern } from '../start.ts';
import { anyStep, type Step } from './visit-steps.ts';
import { type Name, VisitsModel } from './visits.model.ts';

const minute = 60_000;
const password = 'correct horse battery';
/** A fake password hash without cost: these tests check who gets access, not how passwords are stored. */
const passwordHash = {
  hash: async (text: string) => `plain ${text}`,
  waitingCount: () => 0,
  runInTurn: <T>(_address: string, attempt: (verify: VerifyPassword) => Promise<T>) =>
    attempt(async (hash, text) => hash === `plain ${text}`),
};

/** Runs the same steps on a link of a running Postern and on the model. */
class ModelComparison {
  readonly postern: TestPostern;
  readonly model: VisitsModel;
  readonly clock: { at: number };
  readonly cookies = new Map<number, string>();
  readonly ids = new Map<Name, number>();
  share = { id: 0, viewId: '' };
  profileId = 0;

  constructor(postern: TestPostern, clock: { at: number }, requiresSignIn: boolean) {
    this.postern = postern;
    this.clock = clock;
    this.model = new VisitsModel(clock.at, requiresSignIn);
  }

  async prepare(folder: string): Promise<this> {
    await mkdir(join(this.postern.files, folder, 'd'), { recursive: true });
    this.model.files.set('d', 'folder');
    for (const file of ['a', 'd/a']) {
      await writeFile(join(this.postern.files, folder, file), 'a text');
      this.model.files.set(file, 'file');
    }
    this.profileId = (await this.postern.call('loginprofile/add', { typeId: this.model.requiresSignIn ? 3 : 1 })).id;
    this.share = await this.postern.call('share/add', newShare({ path: `/${folder}`, authenticationId: this.profileId }));
    if (this.model.requiresSignIn) assert.equal(await this.addUser('ann'), this.model.addUser('ann'));
    return this;
  }

  private visitAs(browser: number, route: string, init: RequestInit = {}) {
    const cookie = this.cookies.get(browser);
    return this.postern.visit(`/s/${this.share.viewId}/${route}`, { ...init, headers: { ...init.headers, ...(cookie ? { cookie } : {}) } });
  }
  private async statusOf(browser: number, method: string, route: string, body?: object | string, headers: Record<string, string> = {}) {
    const json: Record<string, string> = typeof body === 'object' ? { 'content-type': 'application/json' } : {};
    const bodyInit = body === undefined ? {} : { body: typeof body === 'object' ? JSON.stringify(body) : body };
    return (await this.visitAs(browser, route, { method, headers: { ...json, ...headers }, ...bodyInit })).status;
  }

  private async addUser(name: Name): Promise<number> {
    const response = await this.postern.send('accessuser/add', { username: name, active: true, authId: this.profileId });
    if (response.status !== 200) return response.status;
    this.ids.set(name, response.body.id);
    return this.setPassword(name);
  }
  private async setPassword(username: Name): Promise<number> {
    return (
      await this.postern.send('accessuser/updateUserPassword', {
        username,
        userPassword: password,
        confirmPassword: password,
        authId: this.profileId,
      })
    ).status;
  }
  private async changeUser(name: Name, change: 'activate' | 'deactivate' | 'newPassword' | 'delete'): Promise<number> {
    if (change === 'newPassword') return this.setPassword(name);
    const id = this.ids.get(name) ?? 2 ** 40;
    if (change === 'delete') return (await this.postern.send('accessuser/delete', { id })).status;
    return (await this.postern.send('accessuser/update', { id, authId: this.profileId, active: change === 'activate' })).status;
  }

  /** Takes one step in the model and in Postern. @returns the results of the model and of Postern */
  async take(step: Step): Promise<{ expected: unknown; actual: unknown }> {
    const { model } = this;
    switch (step.action) {
      case 'visit': {
        const { status, body } = await this.visitAs(step.browser, 'visit');
        return { expected: model.visit(step.browser), actual: { status, showsShare: status === 200 && body.share !== null } };
      }
      case 'signIn': {
        const expected = model.signIn(step.browser, step.user, step.passwordRight);
        if (expected === null) return { expected, actual: null };
        const body = JSON.stringify({ username: step.user, password: step.passwordRight ? password : 'wrong horse battery' });
        const answer = await this.visitAs(step.browser, 'sign-in', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const cookie = cookieOf(answer);
        if (cookie) this.cookies.set(step.browser, cookie);
        return { expected, actual: answer.status };
      }
      case 'signOut':
        return { expected: model.signOut(step.browser), actual: await this.statusOf(step.browser, 'POST', 'sign-out') };
      case 'list':
      case 'view':
      case 'download':
      case 'downloadFolder': {
        const route = { list: 'list', view: 'view', download: 'file', downloadFolder: 'zip' }[step.action];
        return {
          expected: model.read(step.action, step.browser, step.path),
          actual: await this.statusOf(step.browser, 'GET', `${route}/${step.path}`),
        };
      }
      case 'upload': {
        const headers: Record<string, string> = step.replaces ? { 'if-match': '*' } : {};
        return {
          expected: model.upload(step.browser, step.path, step.replaces),
          actual: await this.statusOf(step.browser, 'PUT', `file/${step.path}`, 'a text', headers),
        };
      }
      case 'createFolder':
        return {
          expected: model.createFolder(step.browser, step.path),
          actual: await this.statusOf(step.browser, 'POST', `folder/${step.path}`),
        };
      case 'rename':
        return {
          expected: model.rename(step.browser, step.path, step.name),
          actual: await this.statusOf(step.browser, 'POST', 'rename', { path: step.path, name: step.name }),
        };
      case 'remove':
        return {
          expected: model.remove(step.browser, step.path),
          actual: await this.statusOf(step.browser, 'DELETE', `file/${step.path}`),
        };
      case 'setShare': {
        const instant = (bound: number | null) => (bound === null ? null : model.now + bound * minute);
        const [from, to] = [instant(step.from), instant(step.to)];
        const text = (at: number | null) => (at === null ? null : new Date(at).toISOString());
        const { location, path, ...share } = newShare({
          ...step.can,
          active: step.active,
          allowAllUsers: step.allowAllUsers,
          userNames: step.names.join(', '),
        });
        const body = {
          ...share,
          id: this.share.id,
          authenticationId: this.profileId,
          validityStartDate: text(from),
          validityEndDate: text(to),
        };
        return { expected: model.setShare({ ...step, from, to }), actual: (await this.postern.send('share/update', body)).status };
      }
      case 'addUser':
        return model.requiresSignIn
          ? { expected: model.addUser(step.user), actual: await this.addUser(step.user) }
          : { expected: 0, actual: 0 };
      case 'changeUser':
        return { expected: model.changeUser(step.user, step.change), actual: await this.changeUser(step.user, step.change) };
      case 'setAddresses': {
        model.addressAllowed = step.addressAllowed;
        const ipRange = step.addressAllowed ? '127.0.0.0/8, ::1' : '203.0.113.0/24';
        return { expected: 200, actual: (await this.postern.send('loginprofile/update', { id: this.profileId, ipRange })).status };
      }
      case 'newLink': {
        const before = this.share.viewId;
        this.share.viewId = (await this.postern.call('share/updateSharableLink', { id: this.share.id })).viewId;
        return { expected: 404, actual: (await this.postern.visit(`/s/${before}/visit`)).status };
      }
      case 'wait':
        model.now += step.minutes * minute;
        this.clock.at = model.now;
        return { expected: 0, actual: 0 };
    }
  }
}

async function checkModel(t: TestContext, requiresSignIn: boolean): Promise<void> {
  const clock = { at: Date.UTC(2026, 0, 31, 9) };
  const postern = await startPostern(t, { replacements: { ports: { clock: { now: () => clock.at }, passwordHash } } });
  let run = 0;
  const check = async (steps: Step[]) => {
    run += 1;
    clock.at += 1440 * minute; // a day later, so that the rate limits of the previous run no longer apply
    const comparison = await new ModelComparison(postern, clock, requiresSignIn).prepare(`run-${run}`);
    for (const [index, step] of steps.entries()) {
      const { expected, actual } = await comparison.take(step);
      assert.deepEqual(actual, expected, `step ${index}, ${JSON.stringify(step)}`);
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { minLength: 25, maxLength: 25, size: 'max' }), check), { numRuns: 20 });
}

test('after any sequence of steps, a link with sign-in answers as the model predicts', (t) => checkModel(t, true));
test('after any sequence of steps, a link without sign-in answers as the model predicts', (t) => checkModel(t, false));
