import type { BaseAgent, ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2';

/**
 * ssh2 signs each time the server sends SSH_MSG_USERAUTH_PK_OK (RFC 4252, 7). A sign-in needs one signature; a hostile server could
 * request signatures without end.
 */
const maxSignatures = 3;

/** Returns an agent that signs with a private key when a connection signs in. @param Base the class of the library */
export function signInAgent(Base: typeof BaseAgent, key: ParsedKey): BaseAgent {
  let signatures = 0;
  return new (class extends Base {
    override getIdentities(done: Parameters<BaseAgent['getIdentities']>[0]): void {
      done(undefined, [key]);
    }

    override sign(_key: unknown, data: Buffer, options: SigningRequestOptions | SignCallback, callback?: SignCallback): void {
      const [hash, done] = typeof options === 'function' ? [undefined, options] : [options.hash, callback];
      signatures += 1;
      if (signatures > maxSignatures) {
        done?.(new Error('the server asks for too many signatures'));
        return;
      }
      const signature: Buffer | Error = key.sign(data, hash);
      if (signature instanceof Error) done?.(signature);
      else done?.(null, signature);
    }
  })();
}
