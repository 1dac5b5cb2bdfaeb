/** The storage does not respond or has failed, for example because its disk is unmounted or its service reports an error. */
export class StorageUnavailable extends Error {}
/** The storage has too much to do at the moment. The same request may succeed a little later. */
export class StorageBusy extends StorageUnavailable {}
/** The storage failed during or after the step that makes a change: the change may have taken place. */
export class OutcomeUnknown extends StorageUnavailable {}
/** The storage lacks what every change needs, such as a writable staging area. Nothing was changed; an operator has to repair it. */
export class StorageUnusable extends Error {}
/** The storage has no space for the change, or POSTERN_DATA has none for the bytes of an upload on their way there. */
export class StorageFull extends Error {}
/** The storage cannot make this change at all. The message tells the client why. Nothing was changed, or the message says what remains. */
export class ChangeImpossible extends Error {}
/** There is no file or folder with this path. */
export class ItemNotFound extends Error {}
/** The name is already in use. */
export class ItemExists extends Error {}
/** Another change of the item, or of one above or below it, is not complete or cleaned up, or another program has locked the item. */
export class ItemBusy extends Error {}
/** The path of a new file or folder is longer than the storage allows. */
export class PathTooLong extends Error {}
/** The file exists, but its service has moved its bytes to slow storage, from which they must be restored first. */
export class ItemArchived extends Error {}
/** The file has changed, or was deleted, since the caller read its etag. */
export class ItemChanged extends Error {}
