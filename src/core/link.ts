/** Regular expression for a viewId. */
export const viewIdPattern = '^[A-Za-z0-9_-]{4,64}$';

/** Random bits in a viewId that Postern generates: 22 characters of base64url. */
export const viewIdBits = 128;

/** Shortest viewId of a link without sign-in, in characters. Only the secrecy of its address protects such a link. */
export const minOpenViewIdLength = 8;

/** Returns the key of a viewId: the viewId in lower case. People confuse addresses that differ only in case, so these share one key. */
export const viewIdKey = (viewId: string) => viewId.toLowerCase();

export const shareUrl = (publicUrl: string, viewId: string) => `${publicUrl}/s/${viewId}`;
export const portalUrl = (publicUrl: string, viewId: string) => `${publicUrl}/p/${viewId}`;
