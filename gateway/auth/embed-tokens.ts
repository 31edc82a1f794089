import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Resources } from '../directory/ports.ts'
import type { RefreshTokenRows } from '../directory/refresh-tokens.ts'
import { defaultSeconds, hashOf } from './token-pairs.ts'
import type { SubscriberTokens } from './tokens.ts'

/** What embed tokens work with. */
export interface EmbedTokenParts {
  readonly tokens: Pick<SubscriberTokens, 'issue'>
  readonly rows: Pick<RefreshTokenRows, 'add' | 'find'>
  readonly resources: Pick<Resources, 'findByAddressId'>
  readonly clock: Pick<Clock, 'now'>
}

/** Kind of their rows: no refresh token is taken for one, and none of them for a refresh token. */
const embed = 'embed'

/**
 * Tokens that stand in web pages for everybody to read. Whoever has one gets guest tokens for its one address, as often as they like: it says
 * what may be called, and not by whom.
 */
export class EmbedTokens {
  readonly #parts: EmbedTokenParts

  constructor(parts: EmbedTokenParts) {
    this.#parts = parts
  }

  /** Makes one that is good for `seconds`. */
  async make(projectId: string, addressId: string, seconds: number): Promise<string> {
    const { rows, clock } = this.#parts
    const token = randomBytes(32).toString('base64url')
    const now = clock.now()
    await rows.add({
      ...{ id: randomUUID(), hash: hashOf(token), family: randomUUID(), project_id: projectId },
      ...{ subscriber_id: null, kind: embed, claims_json: JSON.stringify({ addressIds: [addressId] }) },
      ...{ expires_at: now + seconds * 1000, used_at: null, created_at: now },
    })
    return token
  }

  /** A guest token for its address; undefined where it is none, has ended, or its address is gone. */
  async guestToken(text: string): Promise<string | undefined> {
    const { tokens, rows, resources, clock } = this.#parts
    const found = await rows.find(hashOf(text))
    if (found?.kind !== embed || Number(found.expires_at) <= clock.now()) return undefined
    const { addressIds }: { readonly addressIds: readonly [string] } = JSON.parse(found.claims_json)
    if (!resources.findByAddressId(found.project_id, addressIds[0])) return undefined
    const guest = { id: randomUUID(), projectId: found.project_id }
    return (await tokens.issue(guest, defaultSeconds, { kind: 'guest', addressIds })).token
  }
}
