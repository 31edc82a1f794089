import type { Reply } from '../rpc-session.ts'
import { type BrowserSession, isMessageId } from './browser-session.ts'

/** Number of replies that are kept for each session. */
const maxReplies = 20

/**
 * Replies to requests that must not run twice. Browsers repeat an unanswered request under the same id after
 * a connection loss.
 */
export class FirstReplies {
  readonly #replies = new WeakMap<BrowserSession, Map<unknown, Promise<Reply>>>()

  /** Returns the reply of `run`. A repeated request receives the reply of the first one. */
  of(browser: BrowserSession, id: unknown, run: () => Promise<Reply>): Promise<Reply> {
    if (!isMessageId(id)) return run()
    const replies = this.#replies.get(browser) ?? new Map<unknown, Promise<Reply>>()
    this.#replies.set(browser, replies)
    const reply = replies.get(id) ?? run()
    replies.set(id, reply)
    if (replies.size > maxReplies) replies.delete(replies.keys().next().value)
    return reply
  }
}
