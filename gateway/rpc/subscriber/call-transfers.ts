import type { Edge } from '../../../media/types.ts'
import { withoutHeaders } from '../../calls/connect/destinations.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { joinCalls } from '../../calls/local/join-calls.ts'
import type { Clock } from '../../core/clock.ts'
import { type Code, catalogue, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserDialRules } from './browser-dial-rules.ts'
import type { BrowserQuotas } from './browser-quotas.ts'

/** Collaborators of {@link CallTransfers}. */
export interface CallTransfersDeps {
  readonly rules: Pick<BrowserDialRules, 'refusal' | 'attribute'>
  readonly quotas: Pick<BrowserQuotas, 'checkDial'>
  readonly edge: Pick<Edge, 'open'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Transfers of the other party of a call, and additions of persons, that browsers request. */
export class CallTransfers {
  readonly #deps: CallTransfersDeps

  constructor(deps: CallTransfersDeps) {
    this.#deps = deps
  }

  /**
   * Transfers the other party to a target (blind). Events report the progress. If the target does not answer,
   * the call continues. Returns the reason for a rejection, or undefined.
   */
  blind(call: BrowserCall, to: string): Code | undefined {
    return this.#call('transfer', call, to)
  }

  /**
   * Calls a person, who joins the call after the answer. Events report the progress. Returns the reason for a
   * rejection, or undefined.
   */
  add(call: BrowserCall, to: string): Code | undefined {
    return this.#call('add', call, to)
  }

  #call(kind: 'transfer' | 'add', call: BrowserCall, to: string): Code | undefined {
    const { rules, quotas, log } = this.#deps
    const { browser, leg } = call
    const isOfMany = kind === 'transfer' && call.members.conferenceMembers.size > 0
    const refusal =
      (isOfMany ? 'too_many_parties' : undefined) ??
      rules.refusal(browser, { to: to.trim() }) ??
      quotas.checkDial(browser)?.code
    if (refusal) return this.#reject(call, refusal, { to: shownUri(to) })
    // A call that the browser dialed is attributed to its subscriber already.
    const release = leg.direction === 'outbound' ? rules.attribute(call.roomId, browser.identity) : () => {}
    const target = {
      to: withoutHeaders(to.trim()),
      progress: (status: number) => this.#report(kind, call, status),
      joined: (leg: Leg) => {
        call.members.added.add(leg)
        leg.whenGone(() => call.members.added.delete(leg))
      },
      over: release,
    }
    const isStarted = kind === 'transfer' ? leg.referred(target) : leg.adds(target)
    if (!isStarted) {
      release()
      return this.#reject(call, 'call_not_in_progress', { to: shownUri(to) })
    }
    const facts = { leg: leg.id, to: shownUri(to) }
    if (kind === 'transfer')
      log.info({ event: 'browser.call-transferred', ...facts }, 'browser transferred a call')
    else log.info({ event: 'browser.person-called', ...facts }, 'browser called a person into a call')
    return undefined
  }

  /**
   * Joins the other parties of two calls of a browser (attended); the browser leaves both. Resolves with the
   * reason for a rejection, or undefined.
   */
  async attended(call: BrowserCall, other: BrowserCall): Promise<Code | undefined> {
    const legs = [call.leg, other.leg] as const
    const isPossible = call !== other && legs.every(({ isAnswered, partner }) => isAnswered && partner)
    if (!isPossible || call.isJoining || other.isJoining)
      return this.#reject(call, 'call_not_in_progress', { other: other.leg.id })
    call.isJoining = other.isJoining = true
    try {
      const { edge, clock, log } = this.#deps
      const accepted = () => {}
      if (!(await joinCalls(edge, legs, () => clock.now(), accepted)))
        return this.#reject(call, 'call_not_in_progress', { other: other.leg.id })
      const facts = { leg: call.leg.id, other: other.leg.id }
      log.info({ event: 'browser.calls-joined', ...facts }, 'browser joined two calls')
      return undefined
    } catch (error) {
      return this.#reject(call, codeOf(error), { other: other.leg.id, reason: String(error) })
    } finally {
      call.isJoining = other.isJoining = false
    }
  }

  #report(kind: 'transfer' | 'add', call: BrowserCall, status: number): void {
    if (status < 200) call.reportProgress(kind, 'ringing', status)
    else call.reportProgress(kind, status < 300 ? 'completed' : 'failed', status)
  }

  #reject(call: BrowserCall, code: Code, facts: object): Code {
    const { metrics, log } = this.#deps
    metrics.rejections.inc({ code })
    log[catalogue[code].level](
      {
        event: 'browser.transfer-rejected',
        code,
        leg: call.leg.id,
        subscriber: call.browser.identity.id,
        ...facts,
      },
      catalogue[code].text,
    )
    return code
  }
}
