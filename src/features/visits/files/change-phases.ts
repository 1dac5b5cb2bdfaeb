import type { Ports } from '#ports/ports.ts';

/** ms. If the location of an older change does not respond, perhaps for ever, the change must not block the folders above. */
export const maxAge = 20 * 60_000;

/** Names a pending change. */
interface ChangeKey {
  readonly tid: number;
  readonly token: string;
}

/** What the other changes know of a change that wants to begin. */
export type Phase =
  /** Nothing: others need not wait for it. */
  | 'unknown'
  /** It has begun: changes below do not begin any more. It waits for those that had begun before. */
  | 'waiting'
  /** It has passed its checks, and is being made. */
  | 'running';

export const recordPhase = (
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { tid, token }: ChangeKey,
  [place = '', newPlace = '']: readonly string[],
  phase: Phase,
) =>
  store.write(
    (tx) =>
      tx
        .updateTable('unsettled')
        .set(
          phase === 'unknown'
            ? { place: '', new_place: '', started: 0, running: 0 }
            : { place, new_place: newPlace, started: clock.now(), running: phase === 'running' ? 1 : 0 },
        )
        .where('tid', '=', tid)
        .where('token', '=', token)
        .execute(),
    'job',
  );

/** Records that a change, which has certainly changed nothing, waits for a lock again: until it begins, nobody waits for it. */
export const withdrawChange = (ports: Pick<Ports, 'store' | 'clock'>, change: ChangeKey) => recordPhase(ports, change, [], 'unknown');

/** Records that a change that has begun still runs. */
export const renewStart = ({ store, clock }: Pick<Ports, 'store' | 'clock'>, { tid, token }: ChangeKey) =>
  store.write(
    (tx) =>
      tx
        .updateTable('unsettled')
        .set({ started: clock.now() })
        .where('tid', '=', tid)
        .where('token', '=', token)
        .where('place', '!=', '')
        .execute(),
    'job',
  );

/** Records again and again that a change is being made, until disposal: a large folder may take longer than `maxAge`. */
export function keepStarted(ports: Pick<Ports, 'store' | 'clock'>, change: ChangeKey): Disposable {
  const timer = setInterval(() => void renewStart(ports, change).catch(() => {}), maxAge / 4).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
