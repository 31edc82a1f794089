import type { OwnRefusal } from '@trunkline/sip-agent'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { shownUri } from '../core/sip-uri.ts'
import { agentCode, type RecentRefusals } from '../sip/admission/recent-refusals.ts'
import { RefusalLog } from '../sip/admission/refusal-log.ts'
import { printable } from '../sip/headers.ts'

/**
 * Statuses that arise when requests cross, such as two BYEs or re-INVITEs; they are logged at debug level.
 */
const ordinary: ReadonlySet<number> = new Set([481, 482, 491])

/**
 * Logs the requests that the embedded agent itself rejected, with a limited number of lines, and keeps the
 * latest ones for the operator.
 */
export class AgentRefusalLog {
  readonly #log: Pick<Log, 'debug' | 'info'>
  readonly #lines: RefusalLog
  readonly #recent: Pick<RecentRefusals, 'add'>
  readonly #clock: Pick<Clock, 'now'>

  constructor(
    log: Pick<Log, 'debug' | 'info'>,
    clock: Pick<Clock, 'now'>,
    recent: Pick<RecentRefusals, 'add'>,
  ) {
    this.#log = log
    this.#clock = clock
    this.#recent = recent
    this.#lines = new RefusalLog(
      () => clock.now(),
      (leftOut) =>
        log.info(
          { event: 'sip.agent-refusals-summarised', ...leftOut },
          'further SIP agent rejections counted',
        ),
    )
  }

  /** Keeps one rejection, and logs it. Texts of the far side are shortened and made printable. */
  take({ status, method, uri, callId, source, detail }: OwnRefusal): void {
    const facts = {
      event: 'sip.agent-refused',
      status,
      source,
      method: printable(method, 32),
      uri: printable(shownUri(uri), 256),
      sipCallId: printable(callId, 256),
      ...(detail !== undefined && { detail: printable(detail) }),
    }
    const { event: _event, status: _status, ...checked } = facts
    this.#recent.add({ at: this.#clock.now(), code: agentCode, status, facts: checked })
    const level = ordinary.has(status) ? 'debug' : 'info'
    if (level === 'info' && !this.#lines.shouldLog(source)) return
    this.#log[level](facts, 'request rejected by the SIP agent')
  }

  /** Logs the number of rejections that got no separate line. */
  close(): void {
    this.#lines.close()
  }
}
