import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { count, flag } from './field.ts';

/** Accepted values of `sortOrder` and their meaning. */
export const sortOrders = { ace: 'asc', asc: 'asc', ascending: 'asc', dsc: 'desc', dse: 'desc', desc: 'desc', descending: 'desc' } as const;
export const defaultPageSize = 50;
export const maxPageSize = 1000;

/** Query parameters of every search. `parsePage` checks `sortField` (its values depend on the record) and `sortOrder` (ignoring case). */
const pageFields = {
  searchWord: Type.Optional(Type.String({ maxLength: 255, description: "Case-insensitive substring of the record's text fields." })),
  startIndex: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, description: 'First record, counted from 0.' }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 6000,
      description: 'Start of the page, from the `Link` header of the previous page. Replaces startIndex.',
    }),
  ),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPageSize, default: defaultPageSize, description: 'Records per page.' })),
  fromDate: Type.Optional(Type.String({ format: 'date-time', description: 'Created at or after this instant.' })),
  toDate: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Last changed at or before this instant; audit entries, mails, API keys and other records without a time of change: created at or before it. A date without a time: until the end of that day.',
    }),
  ),
  sortField: Type.Optional(Type.String({ description: 'Field to sort by; default `id`.' })),
  sortOrder: Type.Optional(Type.String({ description: `One of ${Object.keys(sortOrders).join(', ')}; default ascending.` })),
};

/** Returns the schema of a search's query. @param own parameters in addition to those of every search */
export const searchQuery = <P extends TProperties>(own: P) => Type.Object({ ...pageFields, ...own }, { additionalProperties: false });
const pageQuery = Type.Object(pageFields);
export type PageQuery = Static<typeof pageQuery>;

/** Returns the schema of a search's response (the common search result envelope of the REST API). */
export const searchEnvelope = <S extends TSchema>(record: S) =>
  Type.Object({
    list: Type.Array(record),
    startIndex: count('First record of the list, counted from 0.'),
    pageSize: count('Requested page size.'),
    resultCount: count('Records in the list.'),
    totalCount: count('Exact number of matching records.'),
    containerType: Type.String({ description: 'Kind of the records.' }),
    searchType: Type.Enum(['all', 'filtered']),
    startupMessage: Type.String({ description: 'Always empty.' }),
    maxFileSize: count('Largest upload accepted, in bytes.'),
    canDelete: flag('The role of the caller may delete such records, if there is an operation for it.'),
    canUpload: flag('The role of the caller may add such records, if there is an operation for it.'),
    canDownload: flag('The caller may read these records.'),
    canDownloadFolder: flag('Always false: records have no folders.'),
    canRename: flag('The role of the caller may change such records, if there is an operation for it.'),
    canCreateFolder: flag('Always false: records have no folders.'),
    copyProtect: flag('Always false.'),
  });
