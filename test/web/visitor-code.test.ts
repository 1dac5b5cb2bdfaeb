import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeMail } from '#core/mail/code-mail.ts';
import { renderMail } from '#core/mail/mail-document.ts';
import { linkIn, startWithCodes } from '../mail/code-visitor.ts';
import { openWindow } from '../parts/chromium.ts';
import { assertAccessible } from './console.ts';

const viewport = { width: 390, dark: false };
const ann = 'ann@example.com';

test('a visitor requests a code, pastes it with its space, and sees the share', async (t) => {
  const { postern, share, codeFor } = await startWithCodes(t);
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByLabel('E-mail address').fill(ann);
  await assertAccessible(page, 'the form for the address');
  await page.keyboard.press('Enter');
  await page.getByText(`If ${ann} has access`).waitFor();
  await page.getByRole('button', { name: /New code in \d+ seconds/ }).waitFor();
  await assertAccessible(page, 'the form for the code');
  const field = page.getByLabel('Code');
  assert.deepEqual([await field.getAttribute('autocomplete'), await field.getAttribute('inputmode')], ['one-time-code', 'numeric']);
  await field.fill('0000 0000');
  await page.keyboard.press('Enter');
  await page.getByText('This code is wrong or no longer valid.').waitFor();
  await field.fill((await codeFor(ann)).replace(/^\d{4}/, '$& '));
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

test('after a reload, the page still asks for the code, and another address can be used', async (t) => {
  const { postern, share } = await startWithCodes(t);
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByLabel('E-mail address').fill(ann);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code').waitFor();
  await page.reload();
  await page.getByText(`If ${ann} has access`).waitFor();
  await page.getByRole('button', { name: 'Use another address' }).click();
  await page.getByLabel('E-mail address').waitFor();
});

test('in the browser that requested the code, the link in the mail signs the visitor in, and the code does not stay in the address', async (t) => {
  const { postern, sink, share } = await startWithCodes(t);
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByLabel('E-mail address').fill(ann);
  await page.keyboard.press('Enter');
  const linkedPage = await window.newPage();
  await linkedPage.goto(linkIn(await sink.waitFor()));
  await linkedPage.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  assert.doesNotMatch(linkedPage.url(), /code/);
});

test('in another browser, the link in the mail shows where to enter the code, and the code stays valid', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t);
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByLabel('E-mail address').fill(ann);
  await page.keyboard.press('Enter');
  const address = linkIn(await sink.waitFor());
  const other = await openWindow(t, viewport);
  const otherPage = await other.window.newPage();
  await otherPage.goto(address);
  const code = await codeFor(ann);
  await otherPage.getByText(`Your code is ${code.slice(0, 4)} ${code.slice(4)}. Enter it in the browser where you asked for it.`).waitFor();
  await assertAccessible(otherPage, 'the code of another browser');
  await page.getByLabel('Code').fill(code);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: /^welcome.txt/ }).waitFor();
});

test('a browser that opens the link in a mail for another browser does not send the code of that mail', async (t) => {
  const { postern, sink, share, codeFor } = await startWithCodes(t, { users: ['ann', 'bob'] });
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  await page.goto(postern.publicUrl + share.base);
  await page.getByLabel('E-mail address').fill(ann);
  await page.keyboard.press('Enter');
  const other = await openWindow(t, viewport);
  const otherPage = await other.window.newPage();
  await otherPage.goto(linkIn(await sink.waitFor()));
  const sentCodes: unknown[] = [];
  otherPage.on('request', (request) => request.url().endsWith('/sign-in') && sentCodes.push(request.postDataJSON().code));
  await otherPage.getByLabel('E-mail address').fill('bob@example.com');
  await otherPage.keyboard.press('Enter');
  const code = await codeFor('bob@example.com');
  assert.equal(await otherPage.getByLabel('Code').inputValue(), '');
  await otherPage.getByLabel('Code').fill(code);
  await otherPage.keyboard.press('Enter');
  await otherPage.getByRole('link', { name: /^welcome.txt/ }).waitFor();
  assert.deepEqual(sentCodes, [code]);
});

test('in a mail in a right-to-left language, the digits of a code appear in the order in which they are entered', async (t) => {
  const { window } = await openWindow(t, viewport);
  const page = await window.newPage();
  const content = { use: 'signIn', code: '12345678', pageUrl: 'https://files.example.com/s/x', userName: '' } as const;
  await page.setContent(renderMail(codeMail(content, 'ar')).html);
  const positions = await page.locator('.code').evaluate((element) => {
    const text = element.firstChild;
    const leftOf = (at: number) => {
      const range = element.ownerDocument.createRange();
      range.setStart(text ?? element, at);
      range.setEnd(text ?? element, at + 1);
      return range.getBoundingClientRect().left;
    };
    return [leftOf(0), leftOf(3), leftOf(5), leftOf(8)];
  });
  assert.deepEqual(
    positions,
    [...positions].sort((a, b) => a - b),
  );
});
