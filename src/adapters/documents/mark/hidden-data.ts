import { PDFArray, PDFDict, type PDFDocument, type PDFObject, PDFRef, PDFStream } from '@cantoo/pdf-lib';
import { nameIn } from './pdf-entries.ts';

/** The roles with rules of their own. */
type RuledRole =
  | 'catalog'
  | 'pages'
  | 'page'
  | 'content'
  | 'resources'
  | 'graphicsStates'
  | 'graphicsState'
  | 'softMask'
  | 'patterns'
  | 'pattern'
  | 'xObjects'
  | 'form'
  | 'image'
  | 'fonts'
  | 'font'
  | 'glyphs'
  | 'properties'
  | 'layer'
  | 'emptied';

/** What an object is for. It decides which of its entries stay. `kept`: all do. */
type Role = RuledRole | 'xObject' | 'property' | 'pageTree' | 'kept';

/** The roles of the entries that stay. `others`: the role of entries that are not listed; without it, they are removed. */
interface RoleRules {
  readonly entries: Readonly<Record<string, Role>>;
  readonly others?: Role;
}

const stream = { Length: 'kept', Filter: 'kept', DecodeParms: 'kept' } as const;

/** What is drawn of a PDF (ISO 32000-1). Annotations, scripts, thumbnails, metadata and data of other programs are not listed. */
const roles: Readonly<Record<RuledRole, RoleRules>> = {
  catalog: { entries: { Type: 'kept', Pages: 'pageTree', OCProperties: 'kept' } },
  pages: { entries: { Type: 'kept', Parent: 'pageTree', Kids: 'pageTree', Count: 'kept' } },
  page: {
    entries: {
      ...{ Type: 'kept', Parent: 'pageTree', MediaBox: 'kept', CropBox: 'kept', Rotate: 'kept', UserUnit: 'kept', Group: 'kept' },
      ...{ Resources: 'resources', Contents: 'content' },
    },
  },
  content: { entries: stream },
  resources: {
    entries: {
      ...{ ExtGState: 'graphicsStates', ColorSpace: 'kept', Pattern: 'patterns', Shading: 'kept' },
      ...{ XObject: 'xObjects', Font: 'fonts', Properties: 'properties' },
    },
  },
  graphicsStates: { entries: {}, others: 'graphicsState' },
  graphicsState: { entries: { SMask: 'softMask' }, others: 'kept' },
  softMask: { entries: { G: 'xObject' }, others: 'kept' },
  patterns: { entries: {}, others: 'pattern' },
  pattern: {
    entries: {
      ...{
        ...stream,
        Type: 'kept',
        PatternType: 'kept',
        PaintType: 'kept',
        TilingType: 'kept',
        BBox: 'kept',
        XStep: 'kept',
        YStep: 'kept',
      },
      ...{ Matrix: 'kept', Resources: 'resources', Shading: 'kept', ExtGState: 'graphicsState' },
    },
  },
  xObjects: { entries: {}, others: 'xObject' },
  form: {
    entries: {
      ...{ ...stream, Type: 'kept', Subtype: 'kept', FormType: 'kept', BBox: 'kept', Matrix: 'kept', Group: 'kept' },
      ...{ Resources: 'resources', OC: 'layer' },
    },
  },
  image: {
    entries: {
      ...{ ...stream, Type: 'kept', Subtype: 'kept', Width: 'kept', Height: 'kept', ColorSpace: 'kept', BitsPerComponent: 'kept' },
      ...{ Intent: 'kept', ImageMask: 'kept', Mask: 'xObject', Decode: 'kept', Interpolate: 'kept', SMask: 'xObject', SMaskInData: 'kept' },
      ...{ Matte: 'kept', OC: 'layer' },
    },
  },
  fonts: { entries: {}, others: 'font' },
  font: { entries: { CharProcs: 'glyphs', Resources: 'resources' }, others: 'kept' },
  glyphs: { entries: {}, others: 'content' },
  properties: { entries: {}, others: 'property' },
  layer: { entries: { Type: 'kept', Name: 'kept', Intent: 'kept', OCGs: 'layer', P: 'kept', VE: 'layer' } },
  emptied: { entries: {} },
};

const layerTypes = ['OCG', 'OCMD'];

/** Returns the rules for a dictionary: some roles depend on what the dictionary says of itself. null: everything in it stays. */
function rulesFor(dictionary: PDFDict, role: Role): RoleRules | null {
  if (role === 'kept') return null;
  if (role === 'pageTree') return nameIn(dictionary, 'Type') === 'Page' ? roles.page : roles.pages;
  if (role === 'xObject') return nameIn(dictionary, 'Subtype') === 'Image' ? roles.image : roles.form;
  if (role === 'property') return layerTypes.includes(nameIn(dictionary, 'Type') ?? '') ? roles.layer : roles.emptied;
  return roles[role];
}

/** Removes the entries of a dictionary that its role does not list. @returns the values that stay, with their roles */
function clean(dictionary: PDFDict, role: Role): readonly (readonly [PDFObject, Role])[] {
  const rules = rulesFor(dictionary, role);
  return dictionary.entries().flatMap(([key, value]) => {
    const name = key.decodeText();
    const part = rules === null ? 'kept' : Object.hasOwn(rules.entries, name) ? rules.entries[name] : rules.others;
    if (part !== undefined) return [[value, part] as const];
    dictionary.delete(key);
    return [];
  });
}

function partsOf(object: PDFObject, role: Role): readonly (readonly [PDFObject, Role])[] {
  if (object instanceof PDFStream) return clean(object.dict, role);
  if (object instanceof PDFDict) return clean(object, role);
  return object instanceof PDFArray ? object.asArray().map((item) => [item, role] as const) : [];
}

/**
 * Removes what is not drawn from a document: annotations, scripts, thumbnails, metadata, data of other programs, and every object to which
 * nothing refers any more.
 */
export function removeHiddenData({ context }: PDFDocument): void {
  const { Root } = context.trailerInfo;
  const found = new Set<string>();
  const reachable = new Set<PDFRef>();
  const remaining: (readonly [PDFObject, Role])[] = Root ? [[Root, 'catalog']] : [];
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    const [object, role] = next;
    if (!(object instanceof PDFRef)) {
      remaining.push(...partsOf(object, role));
      continue;
    }
    const visit = `${object} ${role}`;
    if (found.has(visit)) continue;
    found.add(visit);
    reachable.add(object);
    const target = context.lookup(object);
    if (target) remaining.push([target, role]);
  }
  for (const [ref] of context.enumerateIndirectObjects()) if (!reachable.has(ref)) context.delete(ref);
}
