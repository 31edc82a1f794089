import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Resources } from '../directory/model/ports.ts'
import type { RefreshTokenRows } from '../directory/tables/refresh-tokens.ts'
import { ExchangeRates } from './exchange-rates.ts'
import type { SubscriberTokens } from './subscriber-tokens.ts'
import { defaultSeconds, hashOf } from './token-pairs.ts'

/** Collaborators of {@link EmbedTokens}. */
export interface EmbedTokenDeps {
  readonly tokens: Pick<SubscriberTokens, 'issue'>
  readonly rows: Pick<RefreshTokenRows, 'add' | 'find'>
  readonly resources: Pick<Resources, 'findByAddressId'>
  readonly clock: Pick<Clock, 'now'>
}

/** Kind of the stored rows, which separates embed tokens from refresh tokens in the shared table. */
const embed = 'embed'

/** Properties of an embed token. */
export interface EmbedOptions {
  /** Lifetime in seconds. */
  readonly seconds: number
  /** Maximum number of guest tokens per minute; default {@link defaultGuests}. */
  readonly maxGuests?: number
  /** Origins of the pages that may get guest tokens; default all. */
  readonly origins?: readonly string[]
}

/** Default maximum number of guest tokens of an embed token per minute. */
export const defaultGuests = 600

/** Origin of a request for a guest token. */
export interface GuestSource {
  /** `Origin` header of the page; undefined for programs. */
  readonly origin: string | undefined
  /** Network address, or network, that counts as one sender. */
  readonly network: string
}

/** Share of the guest tokens of a minute that one network may take. */
const networkShare = 0.1
/** Minimum number of guest tokens per minute that each network may take. */
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
 * Tokens that stand in public web pages. A visitor's page exchanges an embed token for guest tokens that may
 * call a single address. An embed token restricts the callee, not the caller. Guest tokens per minute are
 * limited; the permitted pages can be.
 */
export class EmbedTokens {
  readonly #deps: EmbedTokenDeps
  readonly #rates: ExchangeRates

  constructor(deps: EmbedTokenDeps) {
    this.#deps = deps
    this.#rates = new ExchangeRates(deps.clock)
  }

  /** Creates an embed token for an address. */
  async make(projectId: string, addressId: string, options: EmbedOptions): Promise<string> {
    const { rows, clock } = this.#deps
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

  /** Creates a guest token for the address of an embed token. */
  async guestToken(text: string, { origin, network }: GuestSource): Promise<GuestTokenResult> {
    const { tokens, rows, resources, clock } = this.#deps
    const found = await rows.find(hashOf(text))
    if (found?.kind !== embed || Number(found.expires_at) <= clock.now()) return { refused: 'unknown' }
    const { addressIds, maxGuests = defaultGuests, origins }: Claims = JSON.parse(found.claims_json)
    if (!resources.findByAddressId(found.project_id, addressIds[0])) return { refused: 'unknown' }
    if (origins && (origin === undefined || !origins.includes(origin))) return { refused: 'origin' }
    const ofNetwork = Math.max(minOfNetwork, Math.ceil(maxGuests * networkShare))
    const waitMs = this.#rates.take(found.id, network, { all: maxGuests, ofNetwork })
    if (waitMs > 0) return { refused: 'rate', waitMs }
    const guest = { id: randomUUID(), projectId: found.project_id }
    const { token } = await tokens.issue(guest, defaultSeconds, { kind: 'guest', addressIds })
    return { token }
  }
}
