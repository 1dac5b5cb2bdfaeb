import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillFilter, fillPattern, firstRdnValue, isFilter } from './ldap-text.ts';

test('a value in a filter stays one value (RFC 4515), and a filter that becomes too long is refused', () => {
  assert.equal(fillFilter('(uid={username})', { username: '*)(uid=\\\0' }), '(uid=\\2a\\29\\28uid=\\5c\\00)');
  assert.equal(fillFilter('(&(member={dn})(x={other}))', { dn: '$&' }), '(&(member=$&)(x={other}))');
  assert.equal(fillFilter('(a={dn}{dn})', { dn: 'x'.repeat(5000) })?.length, 10_004);
  for (const template of ['(a={dn})', `(a=${'{dn}'.repeat(900)})`]) assert.equal(fillFilter(template, { dn: '*'.repeat(250_000) }), null);
});

test('a pattern accepts only user names without characters that have a special meaning in a DN or a user principal name', () => {
  assert.equal(fillPattern('uid={username},dc=x', "o'hara_é-1.2"), "uid=o'hara_é-1.2,dc=x");
  for (const name of ['', ' a', 'a ', 'a,b', 'a+b', 'a"b', 'a\\b', 'a<b', 'a;b', 'a=b', 'a#b', 'a@b', 'a\0', 'a\nb', 'x'.repeat(256)])
    assert.equal(fillPattern('uid={username}', name), null, JSON.stringify(name));
});

test('the name of a group is the value of the first part of its DN (RFC 4514)', () => {
  for (const [dn, name] of [
    ['cn=editors,ou=groups,dc=test', 'editors'],
    ['CN=Weird \\2C \\22Name\\22 (x)*,dc=test', 'Weird , "Name" (x)*'],
    ['cn=a\\,b\\+c+sn=d,dc=x', 'a,b+c'],
    ['cn=Lu\\C4\\8Di\\C4\\87,dc=x', 'Lučić'],
    ['cn=#04024869,dc=x', ''],
    ['nonsense', ''],
    ['cn=ends with \\', 'ends with'],
    [`cn=${'a'.repeat(4_000_000)}`, ''],
  ] as const)
    assert.equal(firstRdnValue(dn), name, dn);
});

test('a filter is enclosed in one pair of parentheses, and every parenthesis in it is closed', () => {
  for (const text of ['(a=b)', '(&(a=b)(c=d))']) assert.equal(isFilter(text), true, text);
  for (const text of ['', 'a=b', '(a=b', '(a=b))', '(a=b)(c=d)', '((a=b)']) assert.equal(isFilter(text), false, text);
});
