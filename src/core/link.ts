/** What a viewId may look like (decisions.md, Fields). */
export const viewIdPattern = '^[A-Za-z0-9_-]{4,64}$';

/** Bits of chance in a viewId that Postern makes: 22 characters of base64url. */
export const viewIdBits = 128;

/** A link that asks for no sign-in is only as secret as its address: nothing shorter stands open. */
export const shortestOpenViewId = 8;

/** Two viewIds that differ in case alone would be taken for each other: they are the same key. */
export const viewIdKey = (viewId: string) => viewId.toLowerCase();

export const shareUrl = (publicUrl: string, viewId: string) => `${publicUrl}/s/${viewId}`;
export const portalUrl = (publicUrl: string, viewId: string) => `${publicUrl}/p/${viewId}`;
