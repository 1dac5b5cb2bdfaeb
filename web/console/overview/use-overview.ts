import { useQuery } from '@tanstack/react-query';
import { get } from '#console/api/call.ts';

/** Loads the overview. @param refetchInterval ms between two requests while the page is visible; false: no repetition */
export const useOverview = (refetchInterval: number | false = false) =>
  useQuery({ queryKey: ['overview'], queryFn: ({ signal }) => get('overview/get', {}, signal), refetchInterval });
