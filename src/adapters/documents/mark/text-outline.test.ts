import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MarkFonts } from './fonts.ts';
import { outlineText } from './text-outline.ts';
import { textRuns } from './text-runs.ts';

const fonts = new MarkFonts();
const runsOf = (text: string) => textRuns(text, fonts.forText(text));

const names = [
  ...['Ann Brown', 'Nguyễn Văn An', 'Ελένη', 'Иван', 'Արմեն', 'გიორგი'],
  ...['محمد', 'דוד', 'देव', 'বাংলা', 'தமிழ்', 'తెలుగు', 'ગુજરાતી', 'ਪੰਜਾਬੀ', 'ಕನ್ನಡ', 'മലയാളം', 'සිංහල'],
  ...['สมชาย', 'ខ្មែរ', 'ລາວ', 'မြန်မာ', 'አማርኛ', '山田太郎', 'やまだ', 'ヤマダ', '김철수', '王小明', '陳大文'],
];

test('names in the scripts of the world are drawn in their own characters', () => {
  for (const name of names) {
    const drawn = runsOf(name).map(({ text }) => text);
    assert.equal(drawn.join(''), name);
    assert.ok(outlineText(name, fonts).steps.length > 10, name);
  }
});

test('the parts of a text are drawn in the order in which a reader sees them', () => {
  const seen = (text: string) => runsOf(text).map((run) => `${run.isRightToLeft ? 'right' : 'left'}: ${run.text.trim()}`);
  assert.deepEqual(seen('For محمد'), ['left: For', 'right: محمد']);
  assert.deepEqual(seen('דוד 12'), ['left: 12', 'right: דוד']);
});

test('the letters of Arabic are joined, and Chinese characters look as in the language of the other characters', () => {
  assert.ok(outlineText('محمد', fonts).width < [...'محمد'].reduce((sum, letter) => sum + outlineText(letter, fonts).width, 0));
  const [japanese, chinese] = [runsOf('直の'), runsOf('直')].map((runs) => runs.find(({ text }) => text.includes('直'))?.font);
  assert.ok(japanese && chinese);
  assert.notEqual(japanese, chinese);
});

test('a character that no font has is drawn as its code point in brackets', () => {
  assert.deepEqual(
    runsOf('A😀').map(({ text }) => text),
    ['A[1F600]'],
  );
});
