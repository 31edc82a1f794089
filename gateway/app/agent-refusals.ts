import type { OwnRefusal } from '@trunkline/sip-agent'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { shownUri } from '../core/sip-uri.ts'
import { RefusalLog } from '../sip/admission/refusal-log.ts'
import { printable } from '../sip/headers.ts'

/**
 * What happens in every network, where a BYE or a re-INVITE crosses another: worth a line for whoever looks
 * for it.
 */
const ordinary: ReadonlySet<number> = new Set([481, 482, 491])

/** Writes down what the embedded agent refused before the gateway heard of it, but no flood of lines. */
export class AgentRefusals {
  readonly #log: Pick<Log, 'debug' | 'info'>
  readonly #lines: RefusalLog

  constructor(log: Pick<Log, 'debug' | 'info'>, clock: Pick<Clock, 'now'>) {
    this.#log = log
    this.#lines = new RefusalLog(
      () => clock.now(),
      (leftOut) => log.info(leftOut, 'more refusals of the SIP agent that have no line of their own'),
    )
  }

  /** One more; texts of the far side are made fit for a line. */
  take({ status, method, uri, callId, source, detail }: OwnRefusal): void {
    const level = ordinary.has(status) ? 'debug' : 'info'
    if (level === 'info' && !this.#lines.shouldLog(source)) return
    const facts = {
      status,
      source,
      method: printable(method, 32),
      uri: printable(shownUri(uri), 256),
      sipCallId: printable(callId, 256),
      ...(detail !== undefined && { detail: printable(detail) }),
    }
    this.#log[level](facts, 'the SIP agent refused a request')
  }

  /** Writes down how many had no line of their own. */
  close(): void {
    this.#lines.close()
  }
}
