import Type from 'typebox';
import { shareUrl } from '#core/link.ts';
import { runChecks } from '#core/messages.ts';
import { requiresSignIn } from '#core/records/login-profile.ts';
import { NewShare, shareFields, storedShareFields } from '#core/records/share.ts';
import { claimNewViewId, newViewId } from '#features/links/view-ids.ts';
import { changeOperation } from '#features/operation.ts';
import { checkPolicy } from '#features/records/check-policy.ts';
import { insertRowWithId } from '#features/records/insert-row.ts';
import { checkLinkPassword, resolveShareProfile } from './link-password.ts';
import { checkTexts, parseListField, parseNotifyEmails, parseValidity, sharePathKey, shareSearchText } from './share-body.ts';
import { addGroupNames, addUserNames } from './share-names.ts';
import { checkSharedItem, findLocationByName } from './share-place.ts';
import { countSharedFolder } from './share-quota.ts';
import { findShareProfile, newShareRecord, shareAuditFields } from './share-rows.ts';

/** Fields that share/add and share/duplicate return in addition to the envelope. */
export const createdShareFields = Type.Object({ id: shareFields.id, viewId: shareFields.viewId, viewUrl: shareFields.viewUrl });

export const addShare = changeOperation({
  name: 'share/add',
  method: 'POST',
  role: 'editor',
  summary: 'Creates a share: publishes a file or folder with a new link.',
  message: 'shareAdded',
  body: NewShare,
  responseFields: createdShareFields,
  async check(body, caller, ports) {
    const { read, cachedUntilChange } = ports.store;
    const { location, authenticationId } = body;
    // `change` runs these two queries again in its transaction. Here, the cache of SQLite lets many concurrent requests share one query.
    const findLocation = () =>
      cachedUntilChange(`location ${caller.tid} ${location}`, () => findLocationByName(read, caller.tid, location));
    const findProfile = () =>
      cachedUntilChange(`profile ${caller.tid} ${authenticationId}`, () => findShareProfile(read, caller.tid, authenticationId));
    await runChecks(
      async () => checkSharedItem(ports, await findLocation(), body.path, body.folder),
      findProfile,
      () => checkTexts(body),
      () => checkLinkPassword(body.linkPassword),
    );
  },
  async change(body, caller, tx, ports) {
    const { clock, random, links } = ports;
    const location = await findLocationByName(tx, caller.tid, body.location);
    const profile = await resolveShareProfile(tx, caller, body, ports);
    const { from, to } = parseValidity(body);
    await checkPolicy(tx, caller.tid, { active: body.active, from, to, requiresSignIn: requiresSignIn(profile.type_id) }, clock.now());
    const [userNames, groupNames] = [parseListField('userNames', body.userNames), parseListField('groupNames', body.groupNames)];
    const [now, viewId] = [clock.now(), newViewId(random)];
    const columns = storedShareFields.toNewColumns(body);
    const row = {
      ...columns,
      tid: caller.tid,
      version: 1,
      location_id: location.id,
      path: body.path,
      path_key: sharePathKey(body.path),
      profile_id: profile.id,
      view_id: viewId,
      notify_emails: parseNotifyEmails(body.notifyEmails),
      valid_from: from,
      valid_to: to,
      max_bytes: body.maxBytes ?? null,
      max_files: body.maxFiles ?? null,
      listed_names: userNames.length + groupNames.length,
      created_owner: caller.name,
      updated_owner: caller.name,
      created_at: now,
      updated_at: now,
      search_text: shareSearchText({ title: columns.title, description: columns.description, path: body.path, view_id: viewId }),
    };
    const id = await insertRowWithId(tx, 'share', row);
    await claimNewViewId(tx, caller.tid, viewId, { share_id: id });
    if (row.max_bytes !== null || row.max_files !== null) await countSharedFolder(tx, { tid: caller.tid, id });
    const lists = {
      userNames: await addUserNames(tx, { ...row, id }, profile, userNames),
      groupNames: await addGroupNames(tx, { ...row, id }, groupNames),
    };
    const after = await newShareRecord(tx, { ...row, id }, { location, profile, lists }, links);
    return { created: { id, viewId, viewUrl: shareUrl(links.publicUrl(), viewId) }, audit: { after, share: shareAuditFields(after) } };
  },
});
