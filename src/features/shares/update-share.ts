import { formatList } from '#core/list-text.ts';
import { Refusal, runChecks } from '#core/messages.ts';
import { requiresSignIn } from '#core/records/login-profile.ts';
import { type Share, ShareChange, shareFields, storedShareFields } from '#core/records/share.ts';
import { checkViewIdLength } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { checkPolicy } from '#features/records/check-policy.ts';
import { checkFixedFields, withFixedFields } from '#features/records/fixed-fields.ts';
import type { Tx } from '#ports/store.ts';
import { checkLinkPassword, deleteUnusedLinkProfile, resolveShareProfile } from './link-password.ts';
import { checkTexts, parseListField, parseNotifyEmails, parseValidity, shareSearchText } from './share-body.ts';
import { countListedNames, hasUnlinkedNames, setGroupNames, setUserNames } from './share-names.ts';
import { checkSharedItem, findLocationByName } from './share-place.ts';
import { countSharedFolder } from './share-quota.ts';
import {
  currentShareRecord,
  findShareProfile,
  type ListTexts,
  selectShareReader,
  shareAuditFields,
  shareRecords,
  shareRecordWithLists,
} from './share-rows.ts';

/** Fields that this operation does not change, with the detail of their field errors. */
const fixedFields = {
  location: 'cannot be changed. Create another share instead.',
  path: 'cannot be changed. Create another share instead.',
  viewId: 'cannot be changed here. Use share/updateSharableLink.',
  tid: 'cannot be changed',
};

/** Requires new lists if a share that does not admit all users gets another profile, which has other users. @throws Refusal 400 */
function checkAudience(body: ShareChange, before: Share): void {
  const hasNewProfile = body.authenticationId !== before.authenticationId || body.linkPassword; // each link password has its own profile
  if (!hasNewProfile || body.allowAllUsers) return;
  const missing = (['userNames', 'groupNames'] as const).filter((field) => body[field] === undefined);
  if (missing.length === 0) return;
  throw new Refusal('fieldInvalid', 'The new login profile has other users and groups: send userNames and groupNames too.', {
    fieldErrors: missing.map((field) => ({
      field,
      detail: 'must be sent when authenticationId changes or linkPassword is set, unless allowAllUsers is true',
    })),
  });
}

/**
 * Writes a list if the list or the profile changes. Also writes sent user names if a stored one refers to no user: one may exist by now.
 * If the profile changes, the entries of users of the former profile are deleted.
 * @returns the lists as texts
 */
async function updateLists(tx: Tx, body: ShareChange, before: Share, profile: { id: number; type_id: number }): Promise<ListTexts> {
  const share = { tid: before.tid, id: before.id };
  const hasNewProfile = profile.id !== before.authenticationId;
  const [users, groups] = [parseListField('userNames', body.userNames), parseListField('groupNames', body.groupNames)];
  const isChanged = (field: keyof ListTexts, names: readonly string[]) =>
    hasNewProfile || (body[field] !== undefined && formatList(names) !== before[field]);
  const hasUnlinkedName = body.userNames !== undefined && (await hasUnlinkedNames(tx, share, profile));
  return {
    userNames:
      isChanged('userNames', users) || hasUnlinkedName ? await setUserNames(tx, share, profile, users, hasNewProfile) : before.userNames,
    groupNames: isChanged('groupNames', groups) ? await setGroupNames(tx, share, groups) : before.groupNames,
  };
}

export const updateShare = changeOperation({
  name: 'share/update',
  method: 'POST',
  role: 'editor',
  summary: 'Changes a share. Its link, location and path stay the same.',
  message: 'shareUpdated',
  body: withFixedFields(ShareChange, shareFields, fixedFields),
  computed: [
    'viewUrl',
    'authViewId',
    'authViewUrl',
    'enableAuthview',
    'authTypeId',
    'authTypeIdStr',
    'allowedLogins',
    'createdOwner',
    'updatedOwner',
    'createDateTime',
    'updateDateTime',
    'etag',
  ],
  target: { table: 'share' },
  async check(body, caller, ports) {
    const { read } = ports.store;
    const reader = await selectShareReader(ports.store, caller.tid, body.id);
    const [before] = await shareRecords(reader, caller.tid, [body.id], ports.links);
    await runChecks(
      () => checkFixedFields(body, before ?? {}, fixedFields),
      () => findShareProfile(read, caller.tid, body.authenticationId),
      () => checkTexts(body, before),
      () => checkLinkPassword(body.linkPassword),
    );
    // Checks the item only if the request changes `folder`, so that a share can be deactivated while its storage is unavailable.
    if (before && before.folder !== body.folder)
      await checkSharedItem(ports, await findLocationByName(read, caller.tid, before.location), before.path, body.folder);
    return before;
  },
  async change(body, caller, tx, ports, checked: Share | undefined) {
    const { clock, links } = ports;
    const before = await currentShareRecord(tx, caller.tid, body.id, links, checked);
    checkFixedFields(body, before, fixedFields);
    checkAudience(body, before);
    const profile = await resolveShareProfile(tx, caller, body, ports);
    checkViewIdLength(before.viewId, profile.type_id);
    const { from, to } = parseValidity(body, before);
    await checkPolicy(tx, caller.tid, { active: body.active, from, to, requiresSignIn: requiresSignIn(profile.type_id) }, clock.now());
    const columns = storedShareFields.toColumns(body);
    const quota = {
      max_bytes: body.maxBytes === undefined ? before.maxBytes : body.maxBytes,
      max_files: body.maxFiles === undefined ? before.maxFiles : body.maxFiles,
    };
    const lists = await updateLists(tx, body, before, profile);
    await tx
      .updateTable('share')
      .set((row) => ({
        ...columns,
        profile_id: profile.id,
        listed_names: countListedNames(lists),
        valid_from: from,
        valid_to: to,
        ...quota,
        ...(body.notifyEmails === undefined ? {} : { notify_emails: parseNotifyEmails(body.notifyEmails) }),
        search_text: shareSearchText({
          title: columns.title ?? before.title,
          description: columns.description ?? before.description,
          path: before.path,
          view_id: before.viewId,
        }),
        version: row('version', '+', 1),
        updated_owner: caller.name,
        updated_at: clock.now(),
      }))
      .where('tid', '=', caller.tid)
      .where('id', '=', before.id)
      .execute();
    if (quota.max_bytes !== null || quota.max_files !== null) await countSharedFolder(tx, { tid: caller.tid, id: before.id });
    if (profile.id !== before.authenticationId) await deleteUnusedLinkProfile(tx, caller.tid, before.authenticationId);
    const hasSameAudience =
      profile.id === before.authenticationId &&
      body.allowAllUsers === before.allowAllUsers &&
      lists.userNames === before.userNames &&
      lists.groupNames === before.groupNames;
    const after = await shareRecordWithLists(tx, before, lists, hasSameAudience ? before.allowedLogins : null, links);
    return { audit: { before, after, share: shareAuditFields(after) } };
  },
});
