import { contextWith } from '../common/contexts.ts'
import { type DocumentFault, DocumentInvalid, DocumentUnreachable, type HandlerContext } from '../handler.ts'
import type { CallInfo } from '../verbs.ts'
import type { ScriptIds } from './call-object.ts'
import { type SendEvent, StatusEvents } from './events.ts'

/** Maximum number of fault events of one run: a script can repeat the same fault for hours. */
const maxFaults = 100

/**
 * Sends the faults of a script as `calling.script.warning` to the URL that receives the call's state changes,
 * if any.
 */
export class FaultEvents {
  /** Context of the run: it sends each fault and writes it to the call's log. */
  readonly context: HandlerContext
  readonly #send: SendEvent
  #faults = 0

  constructor(context: HandlerContext, info: CallInfo, ids: ScriptIds) {
    const { url, method } = context.status ?? {}
    this.#send = new StatusEvents(context, info, ids).sender(url, 'calling.script.warning', {}, method)
    this.context = contextWith(context, {
      warn: (fault) => {
        this.#fault(fault)
        context.warn(fault)
      },
    })
  }

  /**
   * Loads a document, and sends the faults for which it is rejected. `unreachable` is the code of a failed
   * fetch.
   */
  async reportingRejection<T>(unreachable: string, load: () => Promise<T>): Promise<T> {
    try {
      return await load()
    } catch (error) {
      if (error instanceof DocumentInvalid) for (const fault of error.faults) this.#fault(fault)
      if (error instanceof DocumentUnreachable)
        this.#fault({ code: unreachable, message: error.message, path: '' })
      throw error
    }
  }

  #fault(fault: DocumentFault): void {
    this.#faults++
    if (this.#faults <= maxFaults) this.#send({ ...fault })
  }
}
