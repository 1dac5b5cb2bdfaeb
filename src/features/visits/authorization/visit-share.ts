import { mayReadText, requiresWatermark } from '#core/authorization/delivery.ts';
import { formatInstant } from '#core/instant.ts';
import { parseStoredPath, rootPath } from '#core/item-path.ts';
import { profileTypeName, requiresSignIn } from '#core/records/login-profile.ts';
import type { Visit } from '#core/records/visit.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';
import { usedSpace } from '#features/quotas/used-space.ts';
import { findSignInKind } from '#features/visits/sessions/find-sign-in-kind.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';
import { type AuthorizationPorts, type AuthorizedVisit, authorizeVisit, type VisitorRequest } from './authorize-visit.ts';
import type { VisitServices } from './visit-services.ts';

/** Returns the part of a response that says how a visitor signs in at a share or a portal. */
export function signInPart(
  { signInKinds }: Pick<VisitServices, 'signInKinds'>,
  profile: ProfileRef & Pick<LinkRow, 'profile_title' | 'profile_for_link' | 'profile_startup_message' | 'lang'>,
  signedIn: SignedInVisitor | null,
) {
  const { password, code, redirect } = findSignInKind(signInKinds, profile) ?? {};
  const isSignedIn = signedIn !== null || !requiresSignIn(profile.type_id);
  // The title of the profile of a link password contains the title of the share, which nobody may learn before sign-in.
  const hidesTitle = profile.profile_for_link === 1 && !isSignedIn;
  return {
    typeId: profile.type_id,
    typeString: profileTypeName(profile.type_id),
    title: hidesTitle ? '' : profile.profile_title,
    startupMessage: profile.profile_startup_message,
    lang: profile.lang,
    asksPassword: password !== undefined,
    asksCode: code !== undefined,
    asksProvider: redirect !== undefined,
    asksUsername: password?.requiresUsername(profile) ?? true,
    canChangePassword: password?.replacePassword !== undefined,
    canResetPassword: password?.reset !== undefined,
    signedIn: isSignedIn,
  };
}

export const visitorPart = (signedIn: SignedInVisitor | null) => signedIn && { name: signedIn.name, email: signedIn.email };

export type VisitResponsePorts = Pick<Ports, 'limits' | 'store' | 'clock' | 'documents'> & Pick<VisitServices, 'signInKinds'>;

/** Returns the quota of a share and how much of it is used. null: the share has no quota, or the visitor may not upload. */
async function quotaPart({ store, clock }: Pick<Ports, 'store' | 'clock'>, link: LinkRow, canUpload: boolean) {
  const { tid, location_id: locationId, max_bytes: maxBytes, max_files: maxFiles } = link;
  if (!canUpload || (maxBytes === null && maxFiles === null)) return null;
  const folder = { tid, locationId, path: parseStoredPath(link.path) ?? rootPath };
  const { bytes: usedBytes, files: usedFiles } = await usedSpace(store.read, folder, clock.now());
  return { maxBytes, usedBytes, maxFiles, usedFiles };
}

/** Returns the response for an authorized visit. Before sign-in, its `share` is null. */
async function visitResponse(ports: VisitResponsePorts, { link, authenticated, permit }: AuthorizedVisit): Promise<Visit> {
  const signedIn = authenticated?.signedIn ?? null;
  const signIn = signInPart(ports, link, signedIn);
  if (!signIn.signedIn) return { signIn, visitor: null, share: null };
  const { share } = permit;
  return {
    signIn,
    visitor: visitorPart(signedIn),
    share: {
      title: link.title,
      description: link.description,
      startupMessage: link.startup_message,
      folder: link.folder === 1,
      name: parseStoredPath(link.path)?.at(-1) ?? '',
      can: {
        view: share.canView,
        download: share.canDownload,
        downloadFolder: share.canDownloadFolder,
        upload: share.canUpload,
        createFolder: share.canCreateFolder,
        rename: share.canRename,
        delete: share.canDelete,
      },
      copyProtect: share.copyProtect,
      marked: requiresWatermark(share),
      markedDownload: share.waterMarkText !== '',
      officePages: ports.documents.drawsOffice,
      pageText: mayReadText(share),
      validityEndDate: link.valid_to === null ? null : formatInstant(link.valid_to),
      maxFileSize: ports.limits.maxFileSize,
      quota: await quotaPart(ports, link, share.canUpload),
    },
  };
}

/**
 * Returns the response to a visit of a link. A sign-in there gets the same response. Records the visit in the audit log, unless
 * the visitor must sign in first.
 */
export async function visitShare(ports: AuthorizationPorts & VisitResponsePorts, visitorRequest: VisitorRequest): Promise<Visit> {
  const visit = await authorizeVisit(ports, visitorRequest, { action: 'visit' });
  const response = await visitResponse(ports, visit);
  if (response.share?.marked && response.share.can.view) ports.documents.prepare(visit.link.tid);
  if (response.share)
    ports.audit.recordInBackground({
      link: visit.link,
      visitor: visit.authenticated?.signedIn ?? null,
      visitorRequest,
      action: 'visit',
      outcome: 'done',
      path: '',
    });
  return response;
}
