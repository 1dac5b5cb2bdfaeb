import { useParams } from '@tanstack/react-router';

/** The number of the record that the address names. */
export const useRecordId = () => Number(useParams({ strict: false }).id);
