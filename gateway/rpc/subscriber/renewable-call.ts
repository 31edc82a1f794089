import type { BrowserCall } from './browser-call.ts'
import type { BrowserSession } from './browser-session.ts'
import type { Invite } from './verto-messages.ts'

/**
 * Returns the call whose place an invite takes. It is in a room in which the role of the browser has changed,
 * so that the browser connects anew. Or its page no longer knows its id. Undefined without such a call, and
 * for a further source.
 */
export const renewableCall = (
  browser: BrowserSession,
  { part }: Pick<Invite, 'part'>,
): BrowserCall | undefined =>
  part
    ? undefined
    : callsOf(browser).find(
        ({ room }) => room?.renewal === 'awaited' || (room?.renewal === 'none' && mayForget(browser)),
      )

/** Returns the call that has the place of a member; undefined if the member has left. */
export const callOfMember = (browser: BrowserSession, memberId: string): BrowserCall | undefined =>
  callsOf(browser).find(({ room }) => room?.member.id === memberId && room.renewal !== 'replaced')

/** Runs the renewals of each member one after the other: each takes the place of the one before it. */
export class RenewalQueue {
  readonly #last = new Map<string, Promise<boolean>>()

  /**
   * Runs a renewal after those of the same member that have begun before. `renew`: resolves with whether the
   * place was taken. If it was not, and no further renewal waits, the browser may try again. Rejects as
   * `renew` does.
   */
  async run(browser: BrowserSession, memberId: string, renew: () => Promise<boolean>): Promise<void> {
    const before = this.#last.get(memberId) ?? Promise.resolve(true)
    const run = before.catch(() => false).then(renew)
    this.#last.set(memberId, run)
    let isDone = false
    try {
      isDone = await run
    } finally {
      if (this.#last.get(memberId) === run) {
        this.#last.delete(memberId)
        const room = isDone ? undefined : callOfMember(browser, memberId)?.room
        if (room) room.renewal = 'awaited'
      }
    }
  }
}

/**
 * Whether the page of a browser may have forgotten the id of its only call. The published SDK forgets it if
 * the connection is lost during `join()` or `leave()`. A page that was loaded again knows the id.
 */
const mayForget = ({ identity, followsLoss }: BrowserSession): boolean =>
  identity.room !== undefined && followsLoss

const callsOf = (browser: BrowserSession): readonly BrowserCall[] =>
  [...browser.calls.values()].map((call) => call.browserCall(browser)).filter((call) => call !== undefined)
