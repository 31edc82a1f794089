import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { FixedWindowLimiter } from '../core/rates.ts'
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

/** Properties of an embed token. */
export interface EmbedOptions {
  /** Life, in seconds. */
  readonly seconds: number
  /** Maximum number of guest tokens in a minute; default {@link defaultGuests}. */
  readonly maxGuests?: number
  /** Origins of the pages that may have guest tokens of it; default all. */
  readonly origins?: readonly string[]
}

/** Maximum number of guest tokens of an embed token in a minute, where it has no number of its own. */
export const defaultGuests = 600

/** Origin of a request for a guest token. */
export interface GuestSource {
  /** `Origin` header of the page; undefined for programs. */
  readonly origin: string | undefined
  /** Network address, or network, that counts as one sender. */
  readonly network: string
}

/** Part of the guest tokens of a minute that one network may have: no single one takes them from all visitors. */
const networkShare = 0.1
/** Guest tokens of a minute that each network may have, however few there are in all. */
const minOfNetwork = 10

/** Outcome of a request for a guest token. */
export type GuestTokenResult =
  | { readonly token: string }
  | { readonly refused: 'unknown' }
  | { readonly refused: 'origin' }
  | { readonly refused: 'rate'; readonly waitMs: number }

interface Claims extends Pick<EmbedOptions, 'maxGuests' | 'origins'> {
  readonly addressIds: readonly [string]
}

/**
 * Tokens that stand in web pages for all to read. A visitor's page gets guest tokens of it for its one address. It says what may be called,
 * and not by whom; how many guest tokens there are in a minute is bounded, and the pages that may have them can be.
 */
export class EmbedTokens {
  readonly #parts: EmbedTokenParts
  readonly #guests: FixedWindowLimiter
  readonly #guestsOfNetworks: FixedWindowLimiter

  constructor(parts: EmbedTokenParts) {
    this.#parts = parts
    this.#guests = new FixedWindowLimiter(parts.clock, { attempts: defaultGuests, windowMs: 60_000 })
    this.#guestsOfNetworks = new FixedWindowLimiter(parts.clock, { attempts: minOfNetwork, windowMs: 60_000 })
  }

  /** Makes an embed token for an address. */
  async make(projectId: string, addressId: string, options: EmbedOptions): Promise<string> {
    const { rows, clock } = this.#parts
    const { seconds, maxGuests, origins } = options
    const token = randomBytes(32).toString('base64url')
    const now = clock.now()
    const claims: Claims = {
      addressIds: [addressId],
      ...(maxGuests && { maxGuests }),
      ...(origins && { origins }),
    }
    await rows.add({
      id: randomUUID(),
      hash: hashOf(token),
      family: randomUUID(),
      project_id: projectId,
      subscriber_id: null,
      kind: embed,
      claims_json: JSON.stringify(claims),
      expires_at: now + seconds * 1000,
      used_at: null,
      created_at: now,
    })
    return token
  }

  /** Makes a guest token for the address of an embed token. */
  async guestToken(text: string, { origin, network }: GuestSource): Promise<GuestTokenResult> {
    const { tokens, rows, resources, clock } = this.#parts
    const found = await rows.find(hashOf(text))
    if (found?.kind !== embed || Number(found.expires_at) <= clock.now()) return { refused: 'unknown' }
    const { addressIds, maxGuests, origins }: Claims = JSON.parse(found.claims_json)
    if (!resources.findByAddressId(found.project_id, addressIds[0])) return { refused: 'unknown' }
    if (origins && (origin === undefined || !origins.includes(origin))) return { refused: 'origin' }
    const waitMs = this.#take(found.id, network, maxGuests)
    if (waitMs > 0) return { refused: 'rate', waitMs }
    const guest = { id: randomUUID(), projectId: found.project_id }
    const { token } = await tokens.issue(guest, defaultSeconds, { kind: 'guest', addressIds })
    return { token }
  }

  /** Counts a guest token. Returns the milliseconds until the next one is allowed, 0 if this one is. */
  #take(id: string, network: string, maxGuests = defaultGuests): number {
    const ofNetwork = Math.max(minOfNetwork, Math.ceil(maxGuests * networkShare))
    return this.#guestsOfNetworks.take(`${id} ${network}`, ofNetwork) || this.#guests.take(id, maxGuests)
  }
}
