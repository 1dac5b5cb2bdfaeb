import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ContentKind, findDeliveryDenial, requiresWatermark } from './delivery.ts';
import type { Protection } from './share-rules.ts';

const kinds: readonly ContentKind[] = ['pdf', 'image', 'audio', 'video', 'text', 'other'];
const unprotected: Protection = { copyProtect: false, waterMarkText: '', digitalSignature: false };
const downloads = ['download', 'downloadFolder'] as const;
const deliveries = ['view', ...downloads] as const;

test('an unprotected file of any kind can be downloaded', () => {
  for (const action of downloads) for (const kind of kinds) assert.equal(findDeliveryDenial(action, unprotected, kind), null);
});

test('only images, PDF, audio, video and text can be viewed', () => {
  for (const kind of kinds) assert.equal(findDeliveryDenial('view', unprotected, kind), kind === 'other' ? 'cannotBeViewed' : null);
});

test('with copyProtect alone, no file can be downloaded', () => {
  for (const action of downloads)
    for (const kind of kinds) assert.equal(findDeliveryDenial(action, { ...unprotected, copyProtect: true }, kind), 'copyProtected');
});

test('with copyProtect, the original is never sent for viewing', () => {
  for (const kind of kinds)
    assert.equal(
      findDeliveryDenial('view', { ...unprotected, copyProtect: true }, kind),
      kind === 'pdf' || kind === 'image' ? 'markingUnavailable' : 'cannotBeMarked',
    );
});

test('with a watermark, the original is not sent for viewing, as a download or in a ZIP file', () => {
  for (const copyProtect of [false, true])
    for (const action of deliveries)
      for (const kind of kinds) {
        const denial = findDeliveryDenial(action, { ...unprotected, copyProtect, waterMarkText: '{user}' }, kind);
        assert.equal(denial, kind === 'pdf' || kind === 'image' ? 'markingUnavailable' : 'cannotBeMarked');
      }
});

test('a PDF that must be signed cannot be downloaded yet, but can be viewed', () => {
  const signatureRequired = { ...unprotected, digitalSignature: true };
  for (const action of downloads) assert.equal(findDeliveryDenial(action, signatureRequired, 'pdf'), 'signingUnavailable');
  assert.equal(findDeliveryDenial('view', signatureRequired, 'pdf'), null);
  for (const kind of kinds.filter((kind) => kind !== 'pdf')) assert.equal(findDeliveryDenial('download', signatureRequired, kind), null);
});

const anyProtection = fc.record({
  copyProtect: fc.boolean(),
  waterMarkText: fc.constantFrom('', ' ', 'draft'),
  digitalSignature: fc.boolean(),
});

test('additional protection never allows a delivery that was refused', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...deliveries), fc.constantFrom(...kinds), (protection, action, kind) => {
      if (findDeliveryDenial(action, protection, kind) === null) return;
      for (const more of [{ copyProtect: true }, { waterMarkText: 'draft' }, { digitalSignature: true }])
        assert.notEqual(findDeliveryDenial(action, { ...protection, ...more }, kind), null);
    }),
  ));

test('the original of a file that needs a watermark is never sent', () =>
  fc.assert(
    fc.property(anyProtection, fc.constantFrom(...deliveries), fc.constantFrom(...kinds), (protection, action, kind) => {
      if (requiresWatermark(protection)) assert.notEqual(findDeliveryDenial(action, protection, kind), null);
    }),
  ));
