import { parseNameAddress } from '../../core/sip-uri.ts'
import type { FarResponse } from '../srf.ts'

/** Branches of one INVITE that are told apart. */
export const maxBranches = 32

/** The branch that a response comes from, by its To tag; empty where it has none. */
export const tagOf = (response: Pick<FarResponse, 'get'>): string =>
  /;\s*tag\s*=\s*([^;\s]+)/i.exec(parseNameAddress(response.get('To') ?? '')?.params ?? '')?.[1] ?? ''

/**
 * Which early media the caller hears where an INVITE was forked and several branches send some (RFC 3960
 * section 3.2 leaves it open): that of the branch that came up with a description last. A proxy that tries
 * one telephone after the other says nothing at the end of the one before, so an earlier branch would be
 * silence. A branch that only repeats what it had said does not get the caller back.
 */
export class EarlyMedia {
  #said = new Map<string, string>()

  /** Whether the description of a provisional response is the one to be heard from now on. */
  isNews(response: Pick<FarResponse, 'body' | 'get'>): boolean {
    const { body } = response
    if (!body) return false
    const tag = tagOf(response)
    if (this.#said.get(tag) === body || (this.#said.size >= maxBranches && !this.#said.has(tag))) return false
    this.#said.set(tag, body)
    return true
  }
}
