/** Media types of Office documents: DOCX, XLSX, PPTX, and the OpenDocument formats. */
const officeTypes = /^application\/vnd\.(openxmlformats-officedocument|oasis\.opendocument)\./;

export const isOfficeType = (mediaType: string): boolean => officeTypes.test(mediaType);
