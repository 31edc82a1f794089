import { readNameAddr } from '@trunkline/sip-agent/message'
import type { FarResponse } from '../srf.ts'

/** Maximum number of distinct branches of one INVITE. */
export const maxBranches = 32

/** Returns the branch of a response: its To tag, or an empty text. */
export const tagOf = (response: Pick<FarResponse, 'get'>): string =>
  readNameAddr(response.get('To') ?? '')?.params.get('tag') ?? ''

/**
 * Selects the early media of a forked INVITE: the media of the branch whose description came last. RFC 3960
 * section 3.2 leaves the choice open. A proxy that tries phones in turn does not report the end of a branch,
 * so an earlier branch may be silent by then. A branch that repeats its description is not selected again.
 */
export class EarlyMedia {
  #descriptions = new Map<string, string>()

  /** Whether the description of a provisional response replaces the early media so far. */
  isNews(response: Pick<FarResponse, 'body' | 'get'>): boolean {
    const { body } = response
    if (!body) return false
    const tag = tagOf(response)
    if (
      this.#descriptions.get(tag) === body ||
      (this.#descriptions.size >= maxBranches && !this.#descriptions.has(tag))
    )
      return false
    this.#descriptions.set(tag, body)
    return true
  }
}
