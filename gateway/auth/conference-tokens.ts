import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { FixedWindowLimiter } from '../core/rates.ts'
import type { ConferenceTokenRow, ConferenceTokenRows } from '../directory/tables/conference-tokens.ts'
import { ExchangeRates } from './exchange-rates.ts'
import type { Revocations } from './revocations.ts'

/** Collaborators of {@link ConferenceTokens}. */
export interface ConferenceTokenDeps {
  readonly rows: Pick<ConferenceTokenRows, 'ofRoom' | 'find' | 'renew'>
  readonly revocations: Pick<Revocations, 'revoke'>
  readonly clock: Pick<Clock, 'now'>
}

/** Token of a conference. */
export interface ConferenceToken extends ConferenceTokenRow {
  /** Text: a secret, which admits to the conference. */
  readonly token: string
}

/** Lifetime of a room token that a conference token is exchanged for, in seconds. */
export const exchangedSeconds = 86_400
/** Maximum numbers of exchanges per minute: a whole room may join from one office at once. */
const limits = { all: 1_000, ofNetwork: 300 }
/** Maximum number of wrong texts of a network: all pages of an office may have a link that was reset. */
const wrongTexts = { attempts: 300, windowMs: 60_000 }
const prefix = 'vpt_'
const idBytes = 16

/** Outcome of an exchange: the token, undefined for a wrong text; or the time until the next exchange. */
export type Exchange = { readonly found: ConferenceTokenRow | undefined } | { readonly waitMs: number }

/**
 * Tokens of conferences, which stand in links and pages. A page exchanges one for a room token. The text
 * of a token is derived from the gateway's secret, the id and the version of the token. The store has no
 * secret.
 */
export class ConferenceTokens {
  readonly #key: Uint8Array
  readonly #deps: ConferenceTokenDeps
  readonly #rates: ExchangeRates
  /** Wrong texts by the network that has sent them. */
  readonly #wrong: FixedWindowLimiter

  /** `secret` is that of the gateway. */
  constructor(secret: Uint8Array, deps: ConferenceTokenDeps) {
    this.#key = createHmac('sha256', secret).update('conference tokens').digest()
    this.#deps = deps
    this.#rates = new ExchangeRates(deps.clock)
    this.#wrong = new FixedWindowLimiter(deps.clock, wrongTexts)
  }

  /** Returns the tokens of a room: those of moderators and of guests. */
  async ofRoom(projectId: string, roomId: string): Promise<readonly ConferenceToken[]> {
    return (await this.#deps.rows.ofRoom(projectId, roomId)).map((row) => this.#shown(row))
  }

  /** Returns a token of a project. Rejects with `unknown_resource`. */
  async find(projectId: string, id: string): Promise<ConferenceToken> {
    return this.#shown(await this.#find(projectId, id))
  }

  /**
   * Gives a token a new text. The former text is invalid, and room tokens that were made from it are revoked.
   * Rejects with `unknown_resource`.
   */
  async reset(projectId: string, id: string): Promise<ConferenceToken> {
    await this.#renew(await this.#find(projectId, id))
    return this.find(projectId, id)
  }

  /** Resets the token of a text. Has no effect on a token of another project, nor with a wrong text. */
  async revoke(text: string, projectId: string): Promise<void> {
    const found = await this.#ofText(text)
    if (found?.project_id === projectId) await this.#renew(found)
  }

  /**
   * Finds the token of a text, for an exchange by a network. Over a limit, the store is not asked, and the
   * text is not checked.
   */
  async exchange(text: string, network: string): Promise<Exchange> {
    const id = idOf(text)
    const untilNextMs = this.#wrong.waitOf(network) || this.#rates.waitOf(id, network, limits)
    if (untilNextMs > 0) return { waitMs: untilNextMs }
    const found = await this.#ofText(text)
    if (!found) {
      this.#wrong.take(network)
      return { found: undefined }
    }
    const waitMs = this.#rates.take(found.id, network, limits)
    return waitMs > 0 ? { waitMs } : { found }
  }

  async #find(projectId: string, id: string): Promise<ConferenceTokenRow> {
    const found = await this.#deps.rows.find(id)
    if (found?.project_id !== projectId) throw new TrunklineError('unknown_resource')
    return found
  }

  async #ofText(text: string): Promise<ConferenceTokenRow | undefined> {
    const found = await this.#deps.rows.find(idOf(text))
    return found && isEqual(text, this.#textOf(found)) ? found : undefined
  }

  async #renew(former: ConferenceTokenRow): Promise<void> {
    const { rows, revocations, clock } = this.#deps
    const expiresAt = Math.ceil(clock.now() / 1000) + exchangedSeconds
    await revocations.revoke({ id: former.version, expiresAt }, (revoked) => rows.renew(former, revoked))
  }

  #shown(row: ConferenceTokenRow): ConferenceToken {
    return { ...row, token: this.#textOf(row) }
  }

  #textOf({ id, version }: Pick<ConferenceTokenRow, 'id' | 'version'>): string {
    const proof = createHmac('sha256', this.#key).update(`${id} ${version}`).digest()
    return prefix + Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), proof]).toString('base64url')
  }
}

/** Returns whether a text claims to be a conference token. It is not checked. */
export const isConferenceToken = (text: string): boolean => text.startsWith(prefix)

/** Returns the id that a text names; an empty text if it names none. */
const idOf = (text: string): string => {
  if (!isConferenceToken(text)) return ''
  const hex = Buffer.from(text.slice(prefix.length), 'base64url').subarray(0, idBytes).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Compares two texts in a time that does not depend on their content. */
const isEqual = (one: string, other: string): boolean => {
  const a = Buffer.from(one)
  const b = Buffer.from(other)
  return a.length === b.length && timingSafeEqual(a, b)
}
