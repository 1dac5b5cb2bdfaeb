import { useParams } from '@tanstack/react-router';

/** Returns the id of the record in the URL. */
export const useRecordId = () => Number(useParams({ strict: false }).id);
