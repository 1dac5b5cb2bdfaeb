import type { Listing, PortalVisit, Visit } from '#core/records/visit.ts';

const signIn: Visit['signIn'] = {
  typeId: 3,
  typeString: 'USERS',
  title: 'Clients',
  startupMessage: '',
  lang: 'en',
  asksPassword: true,
  asksCode: false,
  asksProvider: false,
  asksUsername: true,
  canChangePassword: true,
  canResetPassword: false,
  signedIn: true,
};
const visitor = { name: 'ann', email: 'ann@example.com' };

export const visitExample: Visit = {
  signIn,
  visitor,
  share: {
    title: 'Reports',
    description: 'The reports of this year',
    startupMessage: '',
    folder: true,
    name: 'reports',
    can: { view: true, download: true, downloadFolder: true, upload: false, createFolder: false, rename: false, delete: false },
    copyProtect: false,
    marked: false,
    officePages: true,
    pageText: true,
    markedDownload: false,
    validityEndDate: '2027-01-31T00:00:00.000Z',
    maxFileSize: 1_073_741_824,
    quota: null,
  },
};

export const portalExample: PortalVisit = {
  signIn,
  visitor,
  shares: [
    {
      title: 'Reports',
      description: 'The reports of this year',
      viewUrl: 'https://files.example.com/s/VwPDyjV1-Z3tWnq8',
      folder: true,
      validityEndDate: null,
    },
  ],
  totalCount: 1,
};

export const listingExample: Listing = {
  path: '/',
  entries: [
    {
      name: 'report.pdf',
      folder: false,
      size: 52_143,
      modifiedDateTime: '2026-05-01T10:00:00.000Z',
      mediaType: 'application/pdf',
      etag: '"a1-b2-c3"',
    },
  ],
  startIndex: 0,
  pageSize: 1000,
  resultCount: 1,
  totalCount: 1,
};
