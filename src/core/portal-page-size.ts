/** Largest and default page size of a portal, in shares. */
export const maxPortalPageSize = 1000;
