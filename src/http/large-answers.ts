import type { ServerResponse } from 'node:http';
import { addCount } from '#core/count-by-key.ts';
import { Refusal } from '#core/messages.ts';

const large = 1 << 20; // bytes
const most = { tenant: 32 << 20, all: 128 << 20 };
const retryAfter = 5; // seconds

/** Memory of large answers of the management interface that their clients have not taken yet. */
export interface LargeAnswers {
  /** Counts an answer until it has gone. @throws 503 where too much waits already, of one tenant or of all */
  hold(tid: number, bytes: number, response: ServerResponse): void;
}

export function largeAnswers(): LargeAnswers {
  const byTenant = new Map<string, number>();
  let all = 0;
  return {
    hold(tid, bytes, response) {
      if (bytes < large) return;
      const tenant = `${tid}`;
      if (all + bytes > most.all || (byTenant.get(tenant) ?? 0) + bytes > most.tenant)
        throw new Refusal('searchBusy', undefined, { retryAfter });
      all += bytes;
      addCount(byTenant, tenant, bytes);
      response.once('close', () => {
        all -= bytes;
        addCount(byTenant, tenant, -bytes);
      });
    },
  };
}
