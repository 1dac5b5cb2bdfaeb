import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ContentKind, mustMark, refuseOriginal } from './delivery.ts';
import type { Protection } from './share-rules.ts';

const kinds: readonly ContentKind[] = ['pdf', 'image', 'sound', 'video', 'text', 'other'];
const open: Protection = { copyProtect: false, waterMarkText: '', digitalSignature: false };
const takes = ['download', 'downloadFolder'] as const;
const handsOut = ['view', ...takes] as const;

test('an unprotected file of any kind is downloaded as it is', () => {
  for (const action of takes) for (const kind of kinds) assert.equal(refuseOriginal(action, open, kind), null);
});

test('images, PDF, sound, video and text are viewed, and nothing else', () => {
  for (const kind of kinds) assert.equal(refuseOriginal('view', open, kind), kind === 'other' ? 'cannotBeViewed' : null);
});

test('with copyProtect alone nothing is taken, of whatever kind it is', () => {
  for (const action of takes)
    for (const kind of kinds) assert.equal(refuseOriginal(action, { ...open, copyProtect: true }, kind), 'copyProtected');
});

test('with copyProtect the original is never sent to be viewed', () => {
  for (const kind of kinds)
    assert.equal(
      refuseOriginal('view', { ...open, copyProtect: true }, kind),
      kind === 'pdf' || kind === 'image' ? 'markingUnavailable' : 'cannotBeMarked',
    );
});

test('with a watermark what cannot be marked is refused in view, file and zip alike', () => {
  for (const copyProtect of [false, true])
    for (const action of handsOut)
      for (const kind of kinds) {
        const said = refuseOriginal(action, { ...open, copyProtect, waterMarkText: '{user}' }, kind);
        assert.equal(said, kind === 'pdf' || kind === 'image' ? 'markingUnavailable' : 'cannotBeMarked');
      }
});

test('while nothing can be signed a PDF that would have to be is not downloaded, but may be viewed', () => {
  const signed = { ...open, digitalSignature: true };
  for (const action of takes) assert.equal(refuseOriginal(action, signed, 'pdf'), 'signingUnavailable');
  assert.equal(refuseOriginal('view', signed, 'pdf'), null);
  for (const kind of kinds.filter((kind) => kind !== 'pdf')) assert.equal(refuseOriginal('download', signed, kind), null);
});

const anyProtection = fc.record({
  copyProtect: fc.boolean(),
  waterMarkText: fc.constantFrom('', ' ', 'draft'),
  digitalSignature: fc.boolean(),
});

test('more protection never hands out what less protection keeps', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...handsOut), fc.constantFrom(...kinds), (protection, action, kind) => {
      if (refuseOriginal(action, protection, kind) === null) return;
      for (const more of [{ copyProtect: true }, { waterMarkText: 'draft' }, { digitalSignature: true }])
        assert.notEqual(refuseOriginal(action, { ...protection, ...more }, kind), null);
    }),
  ));

test('what must be marked never leaves as it is', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...handsOut), fc.constantFrom(...kinds), (protection, action, kind) => {
      if (mustMark(protection)) assert.notEqual(refuseOriginal(action, protection, kind), null);
    }),
  ));
