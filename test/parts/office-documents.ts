import { crc32 } from 'node:zlib';

/** Returns a ZIP file with uncompressed files. @param texts the text of each file, by its name */
export function zipOf(texts: Readonly<Record<string, string>>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const [name, text] of Object.entries(texts)) {
    const [nameBytes, bytes] = [Buffer.from(name), Buffer.from(text)];
    const header = Buffer.alloc(26); // the fields that the file's local header and its directory entry have in common
    header.writeUInt16LE(20, 0);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(bytes.length, 14);
    header.writeUInt32LE(bytes.length, 18);
    header.writeUInt16LE(nameBytes.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(position, 10);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), header, nameBytes, bytes]);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), header, place, nameBytes]));
    files.push(file);
    position += file.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(position, 12);
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end]);
}

const openXml = 'http://schemas.openxmlformats.org';
const relationship = (type: string, target: string) =>
  `<Relationships xmlns="${openXml}/package/2006/relationships"><Relationship Id="r1" Type="${openXml}/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
const contentTypes = (parts: Readonly<Record<string, string>>) =>
  `<Types xmlns="${openXml}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${Object.entries(
    parts,
  )
    .map(([name, type]) => `<Override PartName="${name}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`)
    .join('')}</Types>`;

/** Returns a Word document with one page for each text. */
export function docx(pages: readonly string[]): Buffer {
  const paragraphs = pages.map((text, index) => `<w:p><w:r>${index > 0 ? '<w:br w:type="page"/>' : ''}<w:t>${text}</w:t></w:r></w:p>`);
  return zipOf({
    '[Content_Types].xml': contentTypes({ '/word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relationship('officeDocument', 'word/document.xml'),
    'word/document.xml': `<w:document xmlns:w="${openXml}/wordprocessingml/2006/main"><w:body>${paragraphs.join('')}</w:body></w:document>`,
  });
}

/** Returns a spreadsheet with one cell. */
export const xlsx = (text: string): Buffer =>
  zipOf({
    '[Content_Types].xml': contentTypes({
      '/xl/workbook.xml': 'spreadsheetml.sheet.main',
      '/xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
    }),
    '_rels/.rels': relationship('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': `<workbook xmlns="${openXml}/spreadsheetml/2006/main" xmlns:r="${openXml}/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationship('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${openXml}/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>${text}</t></is></c></row></sheetData></worksheet>`,
  });

const openDocument = 'urn:oasis:names:tc:opendocument:xmlns';
const namespaces = ['office', 'text', 'table', 'drawing', 'svg-compatible', 'presentation']
  .map((name) => `xmlns:${{ drawing: 'draw', 'svg-compatible': 'svg' }[name] ?? name}="${openDocument}:${name}:1.0"`)
  .join(' ');

/** Returns an OpenDocument file. @param kind such as `text` @param body the XML in `office:body` */
export function openDocumentOf(kind: 'text' | 'spreadsheet' | 'presentation', body: string): Buffer {
  const type = `application/vnd.oasis.opendocument.${kind}`;
  return zipOf({
    mimetype: type,
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${openDocument}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    'content.xml': `<office:document-content ${namespaces} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
  });
}

/** OpenDocument files with one page each, by their names. */
export const openDocuments: Readonly<Record<string, Buffer>> = {
  'a.odt': openDocumentOf('text', '<text:p>A text</text:p>'),
  'a.ods': openDocumentOf(
    'spreadsheet',
    '<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string"><text:p>A cell</text:p></table:table-cell></table:table-row></table:table>',
  ),
  'a.odp': openDocumentOf(
    'presentation',
    '<draw:page draw:name="A"><draw:frame svg:x="2cm" svg:y="2cm" svg:width="20cm" svg:height="3cm"><draw:text-box><text:p>A slide</text:p></draw:text-box></draw:frame></draw:page>',
  ),
};
